"""Quotations count as evidence only where the text has them."""

from labelhub.core.llm.parsing.replies import find_quote, read_evidence
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
