"""How many of the humans a machine beats, over what a human is said to cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, ClassVar

from apps.agreement.figures.drawing import (
    WIDTH,
    Axes,
    Label,
    Mark,
    Picture,
    Scale,
    kind_of,
    mark,
    prefix_of,
    round_values,
    spread,
    ticks,
)
from apps.agreement.figures.wording import (
    FIGURE_COLUMNS,
    Cell,
    Table,
    cut,
    figure_cells,
    number_words,
    share_words,
)

LEFT, RIGHT, TOP, BOTTOM = 46, 226, 56, 246
NAMES = RIGHT + 12
#: More machines than these are in the table only: their lines could not be told apart.
MOST = 7
NAME = 28
METHOD = "winning rate (Calderon, Reichart and Dror 2025)"
ENOUGH = 0.5


@dataclass(frozen=True, slots=True)
class Run:
    """One machine's line; ``dash`` 0 to 6 is its pattern, ``verdict`` what its rate means."""

    label: Label
    kind: str
    dash: int
    points: str
    verdict: str
    verdict_y: float


@dataclass(frozen=True, slots=True)
class Letters:
    """The machines that have the same rate at the used epsilon."""

    x: float
    y: float
    letters: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve(Picture):
    """The whole picture; ``half_y`` is the line of passing, ``used`` the epsilons used."""

    form: ClassVar[str] = "curve"
    axes: Axes
    runs: Sequence[Run]
    letters: Sequence[Letters]
    half_y: float
    used: Sequence[Label]


def curve(
    tests: Mapping[str, Mapping[str, Any]],
    *,
    title: str = "Share of humans beaten, by the price of a human",
    key: str = "curve",
) -> Curve | None:
    """Draw machine → its part of a report's ``alt_test``; None without any rate.

    Of each: ``kind``, ``epsilon`` (the used one), ``winning_rate``, ``passes`` and ``curve``, rows
    of ``epsilon`` and ``winning_rate``. The best seven are drawn.
    """
    known = [(name, test) for name, test in tests.items() if len(_points(test)) > 1]
    if not known:
        return None
    known.sort(key=lambda one: -(one[1].get("winning_rate") or 0.0))
    shown = known[:MOST]
    epsilons = [epsilon for _, test in shown for epsilon, _ in _points(test)]
    across = Scale(min(epsilons), max(epsilons), LEFT, RIGHT)
    up = Scale(0, 1, BOTTOM, TOP)
    more = f" {len(known) - MOST} more are in the table." if len(known) > MOST else ""
    return Curve(
        prefix=prefix_of(key),
        title=title,
        words="Winning rate: the share of humans that the machine beats when it may be worse by "
        f"epsilon. From one half on it passes.{more}",
        width=WIDTH,
        height=BOTTOM + 38,
        table=_table(tests),
        axes=_axes(across, up),
        runs=_runs(shown, across, up),
        letters=_letters(shown, across, up),
        half_y=up.at(ENOUGH),
        used=[
            Label(across.at(epsilon), TOP - 20, f"ε {number_words(epsilon)} used", "")
            for epsilon in sorted({test["epsilon"] for _, test in shown})
        ],
    )


def _axes(across: Scale, up: Scale) -> Axes:
    return Axes(
        LEFT,
        RIGHT,
        TOP,
        BOTTOM,
        x_ticks=ticks(across, round_values(across.low, across.high, 5), number_words),
        y_ticks=ticks(up, (0, 0.25, 0.5, 0.75, 1), share_words),
        x_words="ε, the price of a human",
        y_words="humans beaten",
        y_words_above=38,
    )


def _points(test: Mapping[str, Any]) -> list[tuple[float, float]]:
    rows = test.get("curve") or ()
    return [
        (row["epsilon"], row["winning_rate"]) for row in rows if row["winning_rate"] is not None
    ]


def _runs(shown: Sequence[tuple[str, Mapping[str, Any]]], across: Scale, up: Scale) -> list[Run]:
    heights = [up.at(test.get("winning_rate") or 0.0) for _, test in shown]
    spots = spread(heights, NAME, TOP, BOTTOM - 10)
    return [
        Run(
            label=Label(NAMES, y, f"{ascii_uppercase[at]} {cut(name, WIDTH - NAMES - 14)}", name),
            kind=kind_of(test.get("kind", "")),
            dash=at,
            points=" ".join(f"{across.at(x)},{up.at(rate)}" for x, rate in _points(test)),
            verdict=_verdict(test),
            verdict_y=y + 12,
        )
        for at, ((name, test), y) in enumerate(zip(shown, spots, strict=True))
    ]


def _verdict(test: Mapping[str, Any]) -> str:
    rate = test.get("winning_rate")
    if rate is None:
        return "not tested"
    return f"{share_words(rate)}: {'passes' if test.get('passes') else 'does not pass'}"


def _letters(
    shown: Sequence[tuple[str, Mapping[str, Any]]], across: Scale, up: Scale
) -> list[Letters]:
    same: dict[tuple[float, float], str] = {}
    kinds: dict[tuple[float, float], str] = {}
    for at, (_, test) in enumerate(shown):
        if test.get("winning_rate") is not None:
            place = (across.at(test["epsilon"]), up.at(test["winning_rate"]))
            same[place] = same.get(place, "") + ascii_uppercase[at]
            kinds[place] = test.get("kind", "")
    return [
        Letters(x + 7, y - 5, letters, mark(kinds[x, y], x, y, 9))
        for (x, y), letters in same.items()
    ]


def _table(tests: Mapping[str, Mapping[str, Any]]) -> Table:
    rows: list[Sequence[Cell]] = [
        [
            name,
            test.get("kind", ""),
            row["epsilon"],
            *_cells(row["winning_rate"], test)[:-1],
            "used" if row["epsilon"] == test.get("epsilon") else "",
        ]
        for name, test in tests.items()
        for row in test.get("curve") or ()
    ]
    return ("machine", "kind", "epsilon", *FIGURE_COLUMNS), rows


def _cells(rate: float | None, test: Mapping[str, Any]) -> list[Cell]:
    return figure_cells({"value": rate, "n": test.get("tested"), "method": METHOD})
