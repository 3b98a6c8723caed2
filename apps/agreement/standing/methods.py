"""How the intervals of a report were made: what its figures say themselves, never a fixed text."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from apps.agreement.standing.truths import Report


def interval_methods(report: Report) -> list[str]:
    """The methods of all figures that have an interval, those of most figures first."""
    found = Counter(
        figure["method"]
        for figure in _figures(report)
        if figure.get("low") is not None and figure.get("method")
    )
    return [method for method, _ in found.most_common()]


def doubts(report: Report) -> list[str]:
    """Why some intervals cover less than they say, without the codes before the words."""
    told = [str(figure["doubt"]) for figure in _figures(report) if figure.get("doubt")]
    found = Counter(plain(part) for doubt in told for part in doubt.split("; "))
    return [words for words, _ in found.most_common()]


def plain(doubt: str) -> str:
    """A doubt without the code before its words."""
    code, colon, words = doubt.partition(": ")
    return words if colon and " " not in code else doubt


def _figures(told: Any) -> Iterator[Mapping[str, Any]]:
    """Every figure with a number in a report, however deep."""
    if isinstance(told, Mapping):
        if told.get("value") is not None:
            yield told
            return
        for each in told.values():
            yield from _figures(each)
    elif isinstance(told, list):
        for each in told:
            yield from _figures(each)
