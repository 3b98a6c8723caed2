"""Quotations count as evidence only where the text has them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.parsing.replies import find_quote, quotes, read_evidence
from labelhub.core.llm.types import Output, Status
from labelhub.core.schema import schema_from_names
from tests.cases import all_cases

TEXT = 'The Pizza was "divine", so we\ncame back. It’s cheap; the waiter\'s smile is free.'
NAMES = ("Food", "Price", "Food and drink")


@all_cases(
    ("phrase", "found"),
    [
        ("the pizza was", "The Pizza was"),
        ("so we came  back", "so we\ncame back"),
        ("came back.", "came back."),
        ("It's cheap.", "It’s cheap"),
        ("… the waiter’s smile …", "the waiter's smile"),
        ("“divine”", '"divine"'),
        ("the pizza is", None),
        ("", None),
        ("...", None),
        ('"', None),
    ],
)
def test_a_phrase_is_found_as_the_text_spells_it(phrase: str, found: str | None) -> None:
    assert find_quote(phrase, TEXT) == found


@all_cases(
    ("line", "expected"),
    [
        ('- Food: "The Pizza"; "came back"', {"Food": ("The Pizza", "came back")}),
        ('* **Food**: "The Pizza", "came back"', {"Food": ("The Pizza", "came back")}),
        ("2. #Price: “it’s cheap”", {"Price": ("It’s cheap",)}),
        ('- 1: Price: "free"', {"Price": ("free",)}),
        ('- food AND drink: "Pizza"', {"Food and drink": ("Pizza",)}),
        ('- Food: "The Pizza was "divine", so we"', {"Food": ('The Pizza was "divine", so we',)}),
        ('- Food: agree - it says "The Pizza was"', {"Food": ("The Pizza was",)}),
        ('- Food: disagree - "The Pizza was" is a place', {}),
        ('- Food: "the soup"', {}),
        ("- Food: no phrase of its own", {}),
        ('- Ambience: "The Pizza"', {}),
        ('Foods: "The Pizza"', {}),
    ],
)
def test_evidence_lines_are_read(line: str, expected: dict[str, tuple[str, ...]]) -> None:
    assert read_evidence(line, NAMES, TEXT) == expected


STANCE = schema_from_names("single", ["Dovish", "Hawkish"])


@all_cases(
    ("text", "finish_reason", "refusal", "status"),
    [
        ('The words "cut rates" show it.', "stop", "", Status.OK),
        ("Final Decision: Hawkish", "stop", "", Status.OK),
        ("I'm sorry to say that the defence overlooks the cut.", "stop", "", Status.OK),
        ("I won't mince words: they cut.", "stop", "", Status.OK),
        ("The words show", "length", "", Status.OK),
        ("", "stop", "", Status.UNPARSED),
        ("<think>hm</think>\n", "stop", "", Status.UNPARSED),
        ("<think>hm", "length", "", Status.TRUNCATED),
        ("", "stop", "I cannot do that.", Status.REFUSED),
        ("They cut.", "content_filter", "", Status.REFUSED),
        ("I'm sorry, but I can't argue for that.", "stop", "", Status.REFUSED),
        ("I can’t help with that.", "stop", "", Status.REFUSED),
    ],
)
def test_any_words_are_an_argument(
    text: str, finish_reason: str, refusal: str, status: Status
) -> None:
    reply = read_answer(text, STANCE, (), finish_reason, refusal, output=Output.ARGUMENT)
    assert (reply.status, reply.value, reply.rung) == (status, None, 0)
    assert reply.ok or reply.note


@given(st.text(alphabet="\"“”„«»',;a b"))
def test_the_outer_quotation_reaches_from_the_first_to_the_last_mark(line: str) -> None:
    outer = re.search(r"[\"“„«](.+)[\"”»]", line)
    whole = re.split(r"[\"”»][ \t]*[,;][ \t]*(?:and[ \t]+)?[\"“„«]", outer[1]) if outer else []
    source = " ".join(whole)
    if outer and all(find_quote(phrase, source) for phrase in whole):
        assert quotes(line, source) == whole
    else:
        assert quotes(line, source) == re.findall(r"[\"“„«]([^\"“”„«»]+)[\"”“»]", line)
