"""Tables of figures with a column for each kind: as wide as there are kinds, whatever is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agreement.standing.names import (
    COEFFICIENT_WORDS,
    TEXT_WAYS,
    WAYS,
    is_figure,
    is_share,
    measure_words,
)
from apps.agreement.standing.truths import Report, Truth
from apps.agreement.standing.wording import main_coefficient
from apps.common.charts import KIND_WORDS
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.schema import TASKS

NOT_HERE = undefined("Does not apply here.")
NOBODY_ABSTAINED = undefined("Nobody abstained.")


@dataclass(frozen=True, slots=True)
class Column:
    """A kind: ``items`` it is measured on; ``own`` of the truth's decisions are its own; of
    ``ties`` items it has no single most frequent answer."""

    kind: str
    offline: bool
    items: int = 0
    own: int = 0
    ties: int = 0


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One figure of every kind; a null one says its reason in words."""

    words: str
    percent: bool
    cells: Sequence[tuple[Column, Figure]]


@dataclass(frozen=True, slots=True)
class Measures:
    """``rows`` come first, ``more`` are a click away."""

    columns: Sequence[Column]
    rows: Sequence[MeasureRow]
    more: Sequence[MeasureRow] = ()


def coefficients(report: Report) -> Measures:
    """Every coefficient of every kind within itself, the one to read first."""
    columns = [Column(kind, kind in report["offline"]) for kind in report["within"]]
    names = dict.fromkeys(name for told in report["within"].values() for name in told)
    main = main_coefficient(report)
    order = sorted(names, key=lambda name: (name != main, name != "percent"))
    told = report["within"]
    return Measures(
        columns,
        [_row(report, columns, told, name, COEFFICIENT_WORDS.get(name)) for name in order],
    )


def against(report: Report, truth: Truth) -> Measures:
    """Every kind against a truth: by all ways of putting labels together, then the rest."""
    columns = [
        Column(
            kind,
            kind in report["offline"],
            items=truth.found[kind]["items"],
            own=truth.found[kind]["own_decisions"],
            # Of sets every label is told by itself: more than half of them have it or not.
            ties=0 if TASKS[report["task"]].several else truth.found[kind]["ties"],
        )
        for kind in truth.kinds
    ]
    told = {kind: truth.found[kind] for kind in truth.kinds}
    names = dict.fromkeys(
        name for found in told.values() for name, shown in found.items() if is_figure(shown)
    )
    first = [*TEXT_WAYS, *WAYS] if TASKS[report["task"]].written else list(WAYS)
    ways = [name for name in dict.fromkeys(first) if name in names]
    rest = [name for name in names if name not in ways]
    return Measures(
        columns,
        [_row(report, columns, told, name) for name in ways],
        [_row(report, columns, told, name) for name in rest],
    )


def ties(columns: Sequence[Column]) -> str:
    """Of how many items a kind has no single most frequent answer; empty where of none."""
    tied = [
        f"{'No LLM' if one.offline else KIND_WORDS[one.kind]} {one.ties:,}"
        for one in columns
        if one.ties
    ]
    return f"Items with a tie are not in it: {', '.join(tied)}." if tied else ""


def with_words(report: Report, figure: Figure) -> Figure:
    """A null figure says its reason in words."""
    if figure["value"] is not None:
        return figure
    return undefined(report["reasons"].get(figure["reason"], figure["reason"]))


def _row(
    report: Report,
    columns: Sequence[Column],
    told: Mapping[str, Mapping[str, Any]],
    name: str,
    words: str | None = None,
) -> MeasureRow:
    missing = NOBODY_ABSTAINED if name.endswith("with_abstentions") else NOT_HERE
    return MeasureRow(
        words or measure_words(name),
        is_share(name),
        [(each, with_words(report, told[each.kind].get(name, missing))) for each in columns],
    )
