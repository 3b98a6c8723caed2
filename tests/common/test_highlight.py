"""Quotes are marked in texts that may be hostile."""

import re
from html.parser import HTMLParser

import pytest
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from apps.common.highlight import highlight

words = st.text(alphabet=st.sampled_from("aA ß\n\t<>&\"'’—xyİ﷽0"), max_size=30)
texts = st.one_of(words, st.text(max_size=60))


def without_tags(html: str) -> str:
    return re.sub(r"</?mark[^>]*>", "", html)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.deepest = 0
        self.labels: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "mark"
        self.open.append(tag)
        self.deepest = max(self.deepest, len(self.open))
        self.labels.append(dict(attrs)["data-label"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.thorough
@given(texts, st.dictionaries(texts, st.lists(words, max_size=4), max_size=4))
def test_without_its_marks_it_is_the_escaped_text(
    text: str, evidence: dict[str, list[str]]
) -> None:
    assert without_tags(highlight(text, evidence)) == escape(text)


@given(texts, st.integers(0, 40), st.integers(2, 20))
def test_every_part_of_a_text_is_found_in_it(text: str, start: int, length: int) -> None:
    phrase = text[start : start + length]
    html = highlight(text, {"label": [phrase]})
    if len(phrase.split()) and len("".join(phrase.split())) > 1:
        assert "<mark" in html


@given(words, st.lists(words, max_size=5), st.lists(words, max_size=5))
def test_marks_never_nest(text: str, first: list[str], other: list[str]) -> None:
    tags = Tags()
    tags.feed(highlight(text, {"one": first, "other": other}))
    assert tags.deepest <= 1
    assert tags.open == []


def test_overlapping_quotes_name_both_labels() -> None:
    html = highlight("one two three", {"A": ["one two"], "B": ["two three"]})
    assert html == (
        '<mark class="quote" data-label="A">one </mark>'
        '<mark class="quote" data-label="A, B">two</mark>'
        '<mark class="quote" data-label="B"> three</mark>'
    )


def test_case_blanks_and_quotation_marks_do_not_matter() -> None:
    html = highlight("It’s\n  LATE — again", {"late": ["it's late - AGAIN"]})
    assert html == '<mark class="quote" data-label="late">It’s\n  LATE — again</mark>'


def test_a_hostile_text_and_label_stay_text() -> None:
    html = highlight("<script>x</script>", {'"><script>': ["<script>"]})
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_a_phrase_given_as_one_string_counts_as_one_phrase() -> None:
    assert highlight("so it is", {"a": "it is"}).count("<mark") == 1


def test_a_phrase_that_does_not_occur_marks_nothing() -> None:
    assert highlight("so it is", {"a": ["never said", "", " "]}) == "so it is"
    assert highlight("so it is", None) == "so it is"


def test_a_quote_names_its_labels_and_has_their_colours() -> None:
    evidence = {"o1:a": ["the pool was warm"], "o2:b": ["pool was"]}
    html = highlight("the pool was warm", evidence, {"o1:a": ("A", "blue"), "o2:b": ("B", "red")})
    first, both, _ = re.findall(r"<mark([^>]*)>", html)
    assert ('title="A"' in first, 'data-color="blue"' in first, "data-color2" in first) == (
        True,
        True,
        False,
    )
    assert all(part in both for part in ('title="A, B"', 'data-color="blue"', 'data-color2="red"'))
    assert without_tags(html) == "the pool was warm"
