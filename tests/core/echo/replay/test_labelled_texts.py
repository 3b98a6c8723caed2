"""Labelled texts of a file: what is bad is named with its line, and nothing is guessed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.replay import labelled_texts
from labelhub.core.echo.replay.labelled_texts import LEAST_TEXTS, Columns, Labelled, read_labelled
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases


def rows(count: int = LEAST_TEXTS, **fields: Any) -> list[dict[str, Any]]:
    """Rows of different texts, labelled yes and no in turn."""
    return [
        {"text": f"text number {number}", "label": ("yes", "no")[number % 2], **fields}
        for number in range(count)
    ]


def jsonl(given: Sequence[Mapping[str, Any]]) -> bytes:
    return "\n".join(json.dumps(row) for row in given).encode()


def refused(source: bytes, columns: Columns | None = None) -> str:
    with pytest.raises(InvalidInput) as refusal:
        read_labelled(source, columns or Columns())
    return str(refusal.value)


@all_cases(
    ("bad", "message"),
    [
        ("{", "line 61: is no JSON."),
        ("[1]", "line 61: is no JSON object."),
        ('"text"', "line 61: is no JSON object."),
        ('{"text": "a", "label": NaN}', "line 61: is no JSON."),
        ("[" * 100_000, "line 61: is no JSON."),
        ('{"label": "yes"}', "line 61: there is no 'text'."),
        ('{"text": "a"}', "line 61: there is no 'label'."),
        ('{"text": " ", "label": "yes"}', "line 61: 'text' is no text."),
        ('{"text": 3, "label": "yes"}', "line 61: 'text' is no text."),
        ('{"text": null, "label": "yes"}', "line 61: 'text' is no text."),
        ('{"text": "a", "label": null}', "line 61: 'label' is no label."),
        ('{"text": "a", "label": ""}', "line 61: 'label' is no label."),
        ('{"text": "a", "label": ["yes"]}', "line 61: 'label' is no label."),
        (
            '{"text": "a", "label": "y\\u202es"}',
            "line 61: 'label' is longer than 100 characters or cannot be printed.",
        ),
        (
            json.dumps({"text": "a", "label": "y" * 101}),
            "line 61: 'label' is longer than 100 characters or cannot be printed.",
        ),
        (
            '{"text": "a", "label": "\\ud800"}',
            "line 61: 'label' is longer than 100 characters or cannot be printed.",
        ),
    ],
)
def test_a_bad_line_is_refused_with_its_number(bad: str, message: str) -> None:
    assert refused(jsonl(rows()) + b"\n" + bad.encode()) == message


def test_a_csv_row_is_told_by_the_line_it_begins_at() -> None:
    begun = b'text,label\n"one\ntwo\nthree",yes\n'
    assert refused(begun + b"only one cell\n") == ("line 5: has 1 cells where the header has 2.")
    assert refused(begun + b'"never closed,yes\n').startswith("line 5: is no CSV (")
    assert refused(b"text,other\na,yes\n") == "line 2: there is no 'label'."


@all_cases(
    ("source", "message"),
    [
        (b"", "The file is empty."),
        (b" \n\t\n", "The file is empty."),
        (b"\xef\xbb\xbf", "The file is empty."),
        (b"[{}]", "The file is a JSON list; write one object a line (JSON lines)."),
        (jsonl(rows(59)), "There are 59 different texts; it takes 60."),
        (jsonl(rows(label="yes")), "All texts have one label: yes."),
        (b"text,label\n", "There are 0 different texts; it takes 60."),
    ],
)
def test_a_file_with_too_little_is_refused(source: bytes, message: str) -> None:
    assert refused(source) == message


def test_a_file_with_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labelled_texts, "MOST_TEXTS", 65)
    assert refused(jsonl(rows(66))) == "The file has more than 65 texts."
    many = [{**row, "label": f"label {number}"} for number, row in enumerate(rows(61))]
    assert refused(jsonl(many)) == (
        "There are 61 different labels and at most 60 can be learnt; "
        "numbers can be cut into bands (--bands)."
    )


def test_truth_and_numbers_are_labels_by_their_names() -> None:
    given = rows()
    for place, label in enumerate([True, False, 3, 2.5, 1234567]):
        given[place]["label"] = label
    found = read_labelled(jsonl(given), Columns())
    named = [found.values[label] for label in found.labels[:5]]
    assert named == ["yes", "no", "3", "2.5", "1234567"]


def banded(numbers: Sequence[float], bands: int) -> Labelled:
    given = [{"text": f"text {place}", "label": number} for place, number in enumerate(numbers)]
    return read_labelled(jsonl(given), Columns(bands=bands))


@all_cases("number", ['"many"', "1e999", "true", "null", "[1]", '"nan"'])
def test_what_is_no_number_has_no_band(number: str) -> None:
    source = jsonl(rows(label=1)) + f'\n{{"text": "a", "label": {number}}}'.encode()
    assert refused(source, Columns(bands=2)) == "line 61: 'label' is no number."


@pytest.mark.parametrize("bands", [-1, 1, 11])
def test_a_number_of_bands_out_of_range_is_refused(bands: int) -> None:
    with pytest.raises(InvalidInput, match=r"^bands: must be from 2 to 10\.$"):
        Columns(bands=bands)


distinct = st.lists(st.floats(-1e300, 1e300), min_size=LEAST_TEXTS, max_size=90, unique=True)


@given(distinct, st.integers(2, 10))
def test_bands_are_in_the_order_of_their_numbers(numbers: list[float], bands: int) -> None:
    found = banded(numbers, bands)
    ordered = sorted(zip(numbers, found.labels, strict=True))
    assert [label for _, label in ordered] == sorted(found.labels)
    assert len(found.values) == bands


@given(st.binary(max_size=200))
def test_whatever_bytes_are_given_end_in_one_kind_of_error(source: bytes) -> None:
    refused(source)
