"""Recall and precision on data of others; run with ``-s`` to see the numbers.

A span counts as found when all its letters and digits lie within findings of any kind, a name when
one of its words does.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from labelhub.core.interview.redaction import Finding, NameFinder, finder, redact

DATA = Path(__file__).parents[4] / "shared" / "data"
Row = Mapping[str, Any]

LEAST_RECALL = {
    "EMAIL_ADDRESS": 0.95,
    "PHONE_NUMBER": 0.7,
    "CREDIT_CARD": 0.95,
    "IBAN_CODE": 0.95,
    "IP_ADDRESS": 0.95,
    "DOMAIN_NAME": 0.95,
}
LEAST_RECALL_WITH_NAMES = {**LEAST_RECALL, "PERSON": 0.85, "GPE": 0.7}
LEAST_PRECISION = 0.95
#: Share of ordinary requests in which anything at all may be found.
MOST_TOUCHED, MOST_TOUCHED_WITH_NAMES = 0.03, 0.12


@cache
def rows(name: str) -> Sequence[Row]:
    """The rows of a shared data set; skips the test without it."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}, which is not here")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def names_or_skip() -> NameFinder:
    names = finder()
    if names is None:
        pytest.skip("the optional extra is not installed")
    return names


def is_found(text: str, span: Row, findings: Sequence[Finding]) -> bool:
    covered = {index for finding in findings for index in range(finding.start, finding.end)}
    letters = [index for index in range(span["start"], span["end"]) if text[index].isalnum()]
    hits = [start in covered for start in letters]
    return any(hits) if span["type"] == "PERSON" else all(hits)


@cache
def found_in_rows(names: NameFinder | None) -> Sequence[tuple[Row, Sequence[Finding]]]:
    """Every row of the personal data set with what is found in it."""
    data = rows("pii_presidio_synth.jsonl")
    return [(row, redact(row["text"], names=names).findings) for row in data]


def recalls(names: NameFinder | None) -> dict[str, float]:
    """Share of spans found, by the kind of the data set."""
    found: Counter[str] = Counter()
    result: Counter[str] = Counter()
    for row, findings in found_in_rows(names):
        for span in row["spans"]:
            result[span["type"]] += 1
            found[span["type"]] += is_found(row["text"], span, findings)
    return {kind: found[kind] / result[kind] for kind in sorted(result)}


def precisions(names: NameFinder | None) -> dict[str, float]:
    """Share of findings that touch any span, by kind of finding."""
    right: Counter[str] = Counter()
    sent: Counter[str] = Counter()
    for row, findings in found_in_rows(names):
        for finding in findings:
            sent[finding.type] += 1
            right[finding.type] += any(
                span["start"] < finding.end and finding.start < span["end"] for span in row["spans"]
            )
    return {kind: right[kind] / sent[kind] for kind in sorted(sent)}


def touched(names: NameFinder | None) -> float:
    """Share of ordinary requests in which something is found."""
    texts = [row["text"] for row in rows("chat_messages.jsonl") if row["kind"] == "request"]
    return sum(bool(redact(text, names=names).findings) for text in texts) / len(texts)


def check_recall(names: NameFinder | None, least: Mapping[str, float]) -> None:
    measured = recalls(names)
    print({kind: round(share, 3) for kind, share in measured.items()})
    assert {kind: measured[kind] for kind in least if measured[kind] < least[kind]} == {}


def check_precision(names: NameFinder | None) -> None:
    measured = precisions(names)
    print({kind: round(share, 3) for kind, share in measured.items()})
    assert {kind: share for kind, share in measured.items() if share < LEAST_PRECISION} == {}


def test_what_has_a_form_is_found() -> None:
    check_recall(None, LEAST_RECALL)


def test_what_is_found_is_personal_data() -> None:
    check_precision(None)


def test_ordinary_requests_stay_as_they_are() -> None:
    assert touched(None) <= MOST_TOUCHED


def test_names_and_places_are_found_with_the_extra() -> None:
    check_recall(names_or_skip(), LEAST_RECALL_WITH_NAMES)


def test_what_is_found_with_the_extra_is_personal_data() -> None:
    check_precision(names_or_skip())


def test_most_ordinary_requests_stay_as_they_are_with_the_extra() -> None:
    assert touched(names_or_skip()) <= MOST_TOUCHED_WITH_NAMES
