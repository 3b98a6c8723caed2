"""The charts of agreement: one function for each, from plain numbers to a ``Chart``.

Each returns None where there is nothing to draw. A figure is ``{"value", "low", "high", "n",
"method"}`` or ``{"value": None, "reason"}``.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from string import ascii_uppercase
from typing import Any

from apps.common.charts import (
    KIND_WORDS,
    Axis,
    Cell,
    Chart,
    Line,
    Mark,
    Name,
    Point,
    Row,
    Rule,
    down_to,
    number_tick,
    order_of,
    share_tick,
)
from apps.common.figures import draw_figure, duration, ends, figure_row, money
from labelhub.core.agreement.calibration import Bin
from labelhub.core.agreement.pareto import front
from labelhub.core.agreement.reports.reasons import WORDS
from labelhub.core.agreement.risk_control import Step

AnyFigure = Mapping[str, Any]
#: Figures by the keys of two sources.
Pairs = Mapping[tuple[Any, Any], AnyFigure]

#: More sources, labels and machines than these are in the table only.
MOST_SOURCES, MOST_LABELS, MOST_MACHINES = 40, 12, 7
#: Up to so many sources every cell has room for its number and its n.
ROOMY = 5
STEPS = (0.2, 0.4, 0.6, 0.8)
NO_PAIR: AnyFigure = {"value": None, "reason": "no_shared_items"}
NOT_ASKED_TWICE: AnyFigure = {"value": None, "reason": "One annotator is not compared with itself."}
#: Costs that differ by more than this many times are drawn on a logarithmic axis.
FAR_APART = 20
#: Longer names than this are numbers in the plot and names in the legend.
LONGEST_LABEL = 14
#: Bounds above this many targets say only that nothing is known; they are left to the table.
WORTH_DRAWING = 4
NANO = 1_000_000_000
METHOD = "winning rate (Calderon, Reichart and Dror 2025)"


@dataclass(frozen=True, slots=True)
class Source:
    """A kind (``key`` is its name) or an annotator."""

    key: Hashable
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured of one source: a figure, or several by what they measure."""

    name: str
    kind: str
    figures: Mapping[str, AnyFigure]


@dataclass(frozen=True, slots=True)
class Series:
    """One kind's figures, one per place along the axis; None or a reason where there is none."""

    name: str
    kind: str
    figures: Sequence[AnyFigure | None]


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to an answer: what it costs and how often it is right.

    ``label`` stands in the plot for its name.
    """

    name: str
    kind: str
    cost: AnyFigure
    accuracy: AnyFigure
    label: str = ""


def sentence(figure: AnyFigure | None, *, percent: bool = False) -> str:
    """All of a figure in one line: ``0.62 (0.58 to 0.66), n 800``."""
    drawn = draw_figure(figure, percent=percent)
    if drawn.reason:
        return f"no number: {_reason(figure)}"
    between = f" ({drawn.low} to {drawn.high})" if drawn.low else ""
    return f"{drawn.value}{between}{f', n {drawn.n}' if drawn.n else ''}"


def step_of(value: float) -> int:
    """The shade of an agreement: 1 to 5 for below 0.2, 0.4, 0.6, 0.8 and above."""
    return 1 + sum(value >= step for step in STEPS)


def heatmap(
    sources: Sequence[Source],
    figures: Pairs,
    *,
    of: str,
    within: str = "",
    title: str = "",
    key: str = "heatmap",
    percent: bool = False,
) -> Chart | None:
    """Who agrees with whom: a square of coefficients.

    Args:
        sources: at most 40 are drawn, the first ones; they are grouped by kind.
        figures: by the keys of two sources in either order; of one source twice: within it.
        of: what the numbers are, such as ``Cohen's kappa``; those on the diagonal: ``within``.
        percent: the numbers are shares, shown as per cent.
    """
    chosen = sorted(sources[:MOST_SOURCES], key=lambda source: order_of(source.kind))
    if not chosen or not any(ends(figure) for figure in figures.values()):
        return None
    roomy = len(chosen) <= ROOMY
    cells = [
        _pair_cell(
            (column, row), chosen, _pair(figures, chosen[row], chosen[column]), (roomy, percent)
        )
        for row in range(len(chosen))
        for column in range(len(chosen))
    ]
    names = [Name(source.name, source.kind) for source in chosen]
    of_kinds = all(source.key == source.kind for source in chosen)
    framed = f"; framed: {within} within one kind".replace("  ", " ") if of_kinds else ""
    more = len(sources) - len(chosen)
    return Chart(
        key=key,
        title=title or f"{of} between sources",
        description=f"{of} of {len(chosen)} sources with each other: the darker, the nearer to "
        f"full agreement{framed}.{f' {more} more are not drawn.' if more else ''}",
        rows=_pair_rows(chosen, figures),
        x=Axis(names=names, step=32),
        y=Axis(names=names, step=44 if roomy else 24),
        marks=cells,
        note=of + framed,
    )


def report_pairs(
    report: Mapping[str, Any], *, between: str, within: str, level: str = "kind"
) -> tuple[list[Source], dict[tuple[Any, Any], AnyFigure]]:
    """Sources and figures of an agreement report (its JSON) for ``heatmap``.

    ``between`` names the coefficient of two sources, ``within`` that of one kind; ``level`` is
    ``kind`` or ``annotator``, of which there are only those that share an item with another.
    """
    sources: dict[Hashable, Source] = {}
    figures: dict[tuple[Any, Any], AnyFigure] = {}
    if level == "kind":
        for kind, found in report["within"].items():
            sources[kind] = Source(kind, KIND_WORDS.get(kind, kind), kind)
            figures[kind, kind] = found.get(within, NO_PAIR)
    for pair in report["between"]:
        if pair["level"] != level:
            continue
        keys = [pair.get(f"{side}_id", pair[side]) for side in "ab"]
        for side, key in zip("ab", keys, strict=True):
            kind = pair.get(f"{side}_kind", pair[side])
            name = KIND_WORDS.get(kind, kind) if level == "kind" else pair[side]
            sources.setdefault(key, Source(key, name, kind))
        figures[keys[0], keys[1]] = pair.get(between, NO_PAIR)
    return list(sources.values()), figures


def _pair(figures: Pairs, row: Source, column: Source) -> AnyFigure:
    found = figures.get((row.key, column.key)) or figures.get((column.key, row.key))
    return found or (NOT_ASKED_TWICE if row.key == column.key else NO_PAIR)


def _pair_cell(
    place: tuple[int, int], sources: Sequence[Source], figure: AnyFigure, look: tuple[bool, bool]
) -> Cell:
    (column, row), (roomy, percent) = place, look
    drawn, known, own = draw_figure(figure, percent=percent), ends(figure), row == column
    names = (
        f"within {sources[row].name}" if own else f"{sources[row].name} and {sources[column].name}"
    )
    text = "–"
    if known:
        text = drawn.value if roomy else _short(known[1], percent=percent)
    return Cell(
        column=column,
        row=row,
        step=step_of(known[1]) if known else 0,
        text=text,
        n=f"n {drawn.n}" if roomy and drawn.n else "",
        framed=own and sources[row].key == sources[row].kind,
        words=f"{names}: {sentence(figure, percent=percent)}",
    )


def _short(value: float, *, percent: bool) -> str:
    """A number in a small cell: ``.62``, ``1``, ``−.05``; per cent without its sign."""
    if percent:
        return f"{value * 100:.0f}"
    words = f"{value:.2f}".replace("-", "−").replace("0.", ".")
    return {"1.00": "1", "−.00": ".00"}.get(words, words)


def _pair_rows(sources: Sequence[Source], figures: Pairs) -> list[Row]:
    pairs = [(one, other) for number, one in enumerate(sources) for other in sources[number:]]
    return [
        {
            "source": one.name,
            "kind": one.kind,
            "other": other.name,
            "other kind": other.kind,
            **figure_columns(found),
        }
        for one, other in pairs
        if (found := _pair(figures, one, other)) is not NOT_ASKED_TWICE
    ]


def confusion(
    labels: Sequence[str],
    counts: Mapping[tuple[str, str], int],
    *,
    title: str = "Said against true",
    key: str = "confusion",
    truth: str = "true",
) -> Chart | None:
    """What was said against what is true: ``counts`` of (said, true) over ``labels``.

    ``truth`` is what the columns are called: ``gold``, ``the author``. More labels than twelve are
    a table only.
    """
    whole = sum(counts.get((said, true), 0) for said in labels for true in labels)
    if not whole:
        return None
    right = sum(counts.get((label, label), 0) for label in labels)
    shown = range(len(labels)) if len(labels) <= MOST_LABELS else ()
    names = [Name(label) for label in labels]
    return Chart(
        key=key,
        title=title,
        description=f"{right:,} of {whole:,} right, framed. Rows: what was said; columns: {truth}.",
        rows=[
            {
                "said": said,
                "true": true,
                "items": counts.get((said, true), 0),
                "note": "right" if said == true else "wrong",
            }
            for said in labels
            for true in labels
            if shown or counts.get((said, true))
        ],
        x=Axis(names=names, step=38),
        y=Axis(names=names, step=32),
        marks=[
            _count_cell(labels, counts, (column, row), truth) for row in shown for column in shown
        ],
        note=f"Rows said, columns {truth}; framed: right, {right:,} of {whole:,}",
    )


def _count_cell(
    labels: Sequence[str], counts: Mapping[tuple[str, str], int], place: tuple[int, int], truth: str
) -> Cell:
    """A cell shaded by fifths of what was said."""
    column, row = place
    said, true = labels[row], labels[column]
    count = counts.get((said, true), 0)
    whole = sum(counts.get((said, label), 0) for label in labels)
    share = f"; {count / whole:.0%} of what was said" if whole else ""
    return Cell(
        column=column,
        row=row,
        step=min(5, 1 + 5 * count // whole) if count else 0,
        text=f"{count:,}",
        framed=row == column,
        words=f"{count:,} items: said {said}, {truth} {true}{share}",
    )


def interval_bars(
    sources: Sequence[Measured],
    *,
    of: str,
    title: str = "",
    references: Mapping[str, float] | None = None,
    low: float | None = None,
    percent: bool = True,
    key: str = "interval-bars",
) -> Chart | None:
    """Values with their 95 % intervals, one under the other, beside ``references`` by name.

    ``of`` is what the axis shows, such as ``Accuracy against gold``. Sources stand in the order of
    the kinds, those of one kind as given; a source with one figure takes one row. ``low`` is where
    the axis begins, None: below all intervals.
    """
    sources = sorted(sources, key=lambda source: order_of(source.kind))
    known = [found for one in sources for figure in one.figures.values() if (found := ends(figure))]
    if not known:
        return None
    names: list[Name] = []
    marks: list[Mark] = [Rule(x=value, name=name) for name, value in (references or {}).items()]
    for source in sources:
        several = len(source.figures) > 1
        if several:
            names.append(Name(source.name, source.kind, head=True))
        for measure, figure in source.figures.items():
            drawn = draw_figure(figure, percent=percent)
            name = measure if several else source.name
            words = f"{source.name}{f', {measure}' if several else ''}: "
            words += sentence(figure, percent=percent)
            if found := ends(figure):
                least, value, most = found
                marks.append(
                    Point(
                        x=value, y=len(names), kind=source.kind, x_ends=(least, most), words=words
                    )
                )
            names.append(
                Name(
                    name,
                    "" if several else source.kind,
                    value=drawn.value,
                    n=f"n {drawn.n}" if drawn.n else "",
                    reason=_reason(figure),
                )
            )
    values = [*(references or {}).values()]
    return Chart(
        key=key,
        title=title or of,
        description=f"{of} with 95 % intervals: {sum(len(one.figures) for one in sources)} rows.",
        rows=[
            {
                "source": source.name,
                "kind": source.kind,
                "measure": measure,
                **figure_columns(figure),
            }
            for source in sources
            for measure, figure in source.figures.items()
        ],
        x=Axis(
            low=down_to([*(least for least, *_ in known), *values]) if low is None else low,
            high=max(1.0, *(high for *_, high in known), *values),
            words=share_tick if percent else number_tick,
        ),
        y=Axis(names=names, step=21),
        marks=marks,
    )


def agreeing(
    groups: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    names: Mapping[str, str] = KIND_WORDS,
    truth: str = "gold",
    title: str = "",
    key: str = "agreeing",
) -> Chart | None:
    """How often an answer is right, by how many annotators of its kind agree on it.

    ``groups``: kind → rows of ``agreeing``, ``items`` and ``accuracy``, as a report's
    ``by_agreeing``; ``truth`` is what is right: ``the author``; ``names`` is what kinds are called.
    """
    groups = {kind: groups[kind] for kind in sorted(groups, key=order_of) if groups[kind]}
    found = [(kind, row) for kind, rows in groups.items() for row in rows]
    known = [place for _, row in found if (place := ends(row["accuracy"]))]
    if not known:
        return None
    numbers = sorted({row["agreeing"] for _, row in found})
    marks: list[Mark] = []
    for number, (kind, rows) in enumerate(groups.items()):
        values = {row["agreeing"]: row["accuracy"] for row in rows}
        series = Series(names.get(kind, kind), kind, [values.get(number) for number in numbers])
        aside = (number - (len(groups) - 1) / 2) * 0.08
        places = [(value + aside, f"{value} agree") for value in numbers]
        marks += _series_marks(series, places, percent=True)
    return Chart(
        key=key,
        title=title or f"Right against {truth}, by number of annotators who agree",
        description="Share of items whose most frequent answer is right, with 95 % intervals, by "
        "how many annotators gave that answer; below: items.",
        rows=[
            {
                "kind": kind,
                "agreeing": row["agreeing"],
                "items": row["items"],
                **figure_columns(row["accuracy"]),
            }
            for kind, row in found
        ],
        x=Axis(
            title="annotators who agree",
            low=numbers[0] - 0.5,
            high=numbers[-1] + 0.5,
            ticks=numbers,
            words=number_tick,
        ),
        y=Axis(title=f"right against {truth}", low=down_to([low for low, *_ in known])),
        marks=marks,
        counts=[
            (Name("items", kind), {row["agreeing"]: row["items"] for row in rows})
            for kind, rows in groups.items()
        ],
    )


def over_time(
    periods: Sequence[str],
    series: Sequence[Series],
    *,
    of: str,
    title: str = "",
    percent: bool = False,
    key: str = "over-time",
) -> Chart | None:
    """A coefficient by period, a line per kind.

    A period without a number breaks the line: nothing is known between its neighbours.
    """
    known = [place for one in series for figure in one.figures if (place := ends(figure))]
    if not known:
        return None
    low = down_to([low for low, *_ in known])
    high = min(1.0, math.ceil(max(high for *_, high in known) * 10 - 1e-9) / 10)
    marks: list[Mark] = []
    for number, one in enumerate(sorted(series, key=lambda one: order_of(one.kind))):
        aside = (number - (len(series) - 1) / 2) * 0.1
        places = [(place + aside, period) for place, period in enumerate(periods)]
        marks += _series_marks(one, places, percent=percent)
    return Chart(
        key=key,
        title=title or f"{of} over time",
        description=f"{of} with 95 % intervals, {len(periods)} periods from {periods[0]} to "
        f"{periods[-1]}.",
        rows=[
            {"source": one.name, "kind": one.kind, "period": period, **figure_columns(figure)}
            for one in series
            for period, figure in zip(periods, one.figures, strict=True)
        ],
        x=Axis(names=[Name(period) for period in periods], step=22),
        y=Axis(
            title=of,
            low=low,
            high=high if high > low else low + 0.1,
            words=share_tick if percent else number_tick,
        ),
        marks=marks,
    )


def _series_marks(
    series: Series, places: Sequence[tuple[float, str]], *, percent: bool
) -> list[Mark]:
    """The line through a series' values, and each with its interval."""
    found = [ends(figure) for figure in series.figures]
    path = [
        None if values is None else (x, values[1])
        for (x, _), values in zip(places, found, strict=True)
    ]
    if not any(path):
        return []
    return [
        Line(points=path, kind=series.kind, name=series.name),
        *(
            Point(
                x=x,
                y=values[1],
                kind=series.kind,
                y_ends=(values[0], values[2]),
                words=f"{series.name}, {where}: {sentence(figure, percent=percent)}",
            )
            for (x, where), values, figure in zip(places, found, series.figures, strict=True)
            if values
        ),
    ]


def winning_rates(
    tests: Mapping[str, Mapping[str, Any]],
    *,
    title: str = "Share of humans beaten, by the price of a human",
    key: str = "curve",
) -> Chart | None:
    """How many of the humans a machine beats, over what a human is said to cost.

    ``tests``: machine → its part of a report's ``alt_test``: ``kind``, ``epsilon`` (the used one),
    ``winning_rate``, ``passes`` and ``curve``, rows of ``epsilon`` and ``winning_rate``. The best
    seven are drawn.
    """
    known = [(name, test) for name, test in tests.items() if len(_rates(test)) > 1]
    if not known:
        return None
    known.sort(key=lambda found: -(found[1].get("winning_rate") or 0.0))
    shown = known[:MOST_MACHINES]
    epsilons = [epsilon for _, test in shown for epsilon, _ in _rates(test)]
    used = sorted({test["epsilon"] for _, test in shown})
    more = f" {len(known) - len(shown)} more are in the table." if len(known) > len(shown) else ""
    return Chart(
        key=key,
        title=title,
        description="Winning rate: the share of humans that the machine beats when it may be worse "
        f"by epsilon. From one half on it passes.{more}",
        rows=[
            {
                "machine": name,
                "kind": test.get("kind", ""),
                "epsilon": row["epsilon"],
                **figure_columns(
                    {"value": row["winning_rate"], "n": test.get("tested"), "method": METHOD}
                ),
                "note": "used" if row["epsilon"] == test.get("epsilon") else "",
            }
            for name, test in tests.items()
            for row in test.get("curve") or ()
        ],
        x=Axis(
            title="ε, the price of a human",
            low=min(epsilons),
            high=max(epsilons),
            words=number_tick,
        ),
        y=Axis(title="humans beaten", ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            Rule(y=0.5, name="passes"),
            *(Rule(x=epsilon, name=f"ε {number_tick(epsilon)} used") for epsilon in used),
            *(
                Line(
                    points=_rates(test),
                    kind=test.get("kind", ""),
                    dash=number,
                    name=f"{ascii_uppercase[number]} {name}, {_verdict(test)}",
                    words=f"{name}: {_verdict(test)}",
                )
                for number, (name, test) in enumerate(shown)
            ),
            *_letters(shown),
        ],
    )


def _rates(test: Mapping[str, Any]) -> list[tuple[float, float]]:
    rows = test.get("curve") or ()
    return [
        (row["epsilon"], row["winning_rate"]) for row in rows if row["winning_rate"] is not None
    ]


def _verdict(test: Mapping[str, Any]) -> str:
    rate = test.get("winning_rate")
    if rate is None:
        return "not tested"
    return f"{share_tick(rate)}: {'passes' if test.get('passes') else 'does not pass'}"


def _letters(shown: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Point]:
    """The machines at the used epsilon; those of the same rate share a point."""
    letters: dict[tuple[float, float], str] = {}
    kinds: dict[tuple[float, float], str] = {}
    for number, (_, test) in enumerate(shown):
        if test.get("winning_rate") is not None:
            place = (test["epsilon"], test["winning_rate"])
            letters[place] = letters.get(place, "") + ascii_uppercase[number]
            kinds[place] = test.get("kind", "")
    return [Point(x=x, y=y, kind=kinds[x, y], label=words) for (x, y), words in letters.items()]


def reliability(
    bins: Sequence[Bin],
    *,
    name: str = "",
    kind: str = "llm",
    title: str = "",
    key: str = "reliability",
) -> Chart | None:
    """Whether a stated confidence is the share that turns out right, by ``reliability_bins``.

    ``name`` is whose confidence it is.
    """
    known = [(found, place) for found in bins if (place := ends(found.right))]
    if not known:
        return None
    lows = [*(found.confidence for found, _ in known), *(low for _, (low, *_) in known)]
    lowest = min(down_to(lows), 0.9)
    whole = sum(found.right["n"] for found, _ in known)
    return Chart(
        key=key,
        title=title or f"Confidence against share right{f', {name}' if name else ''}",
        description=f"{len(known)} bins of {whole:,} items: mean confidence across, share right up "
        "with 95 % intervals. Below the diagonal it is too sure, above not sure enough.",
        rows=[
            {
                "least": found.low,
                "greatest": found.high,
                "mean confidence": found.confidence,
                **figure_columns(found.right),
            }
            for found in bins
        ],
        x=Axis(title="mean confidence", low=lowest),
        y=Axis(title="share right", low=lowest),
        marks=[
            Rule(name="sure as it should be; above: more could be"),
            Line(points=[(found.confidence, value) for found, (_, value, _) in known], kind=kind),
            *(
                Point(
                    x=found.confidence,
                    y=value,
                    kind=kind,
                    y_ends=(low, high),
                    words=f"confidence {share_tick(found.confidence)}: "
                    f"right {sentence(found.right, percent=True)}",
                )
                for found, (low, value, high) in known
            ),
        ],
        counts=[(Name("items"), {found.confidence: found.right["n"] for found, _ in known})],
        height=230,
    )


def risk_coverage(
    steps: Sequence[Step],
    *,
    target: float,
    chosen: Step | None = None,
    title: str = "Error among the accepted, by the share accepted",
    key: str = "risk-coverage",
) -> Chart | None:
    """How many items may be accepted without a person, and how many of those would be wrong.

    ``steps`` is the ``path`` of ``risk_control.choose_threshold``; None with fewer than two.
    """
    known = sorted((one.coverage, one.error, one.bound) for one in steps if one.error is not None)
    if len(known) < 2:
        return None
    most = min(1.0, max(WORTH_DRAWING * target, 1.15 * max(error for _, error, _ in known)))
    description = "Solid: error among the accepted; broken: its upper bound. "
    marks: list[Mark] = [Rule(y=target, name=f"target {share_tick(target)}")]
    if chosen is None:
        description += f"No threshold keeps the target of {share_tick(target)}."
    else:
        accepted = f"{chosen.coverage:.0%} accepted, at most {chosen.bound:.1%} wrong".replace(
            "%", " %"
        )
        description += f"Chosen: {accepted}, target {share_tick(target)}."
        marks += [
            Rule(x=chosen.coverage, name=accepted, strong=True),
            Point(x=chosen.coverage, y=chosen.bound, kind="accent", words=accepted),
        ]
    return Chart(
        key=key,
        title=title,
        description=description,
        rows=[
            {
                "threshold": one.threshold,
                "accepted share": one.coverage,
                "accepted": one.accepted,
                "wrong": one.errors,
                "error": one.error,
                "upper bound": one.bound,
                "note": "chosen" if one == chosen else "",
            }
            for one in sorted(steps, key=lambda one: one.coverage)
        ],
        x=Axis(title="accepted without a person", ticks=(0, 0.25, 0.5, 0.75, 1)),
        y=Axis(title="wrong among the accepted", high=most),
        marks=[
            *marks,
            Line(
                points=[(coverage, bound) for coverage, _, bound in known if bound <= most],
                kind="accent",
                dash=1,
                name="at most",
            ),
            Line(
                points=[(coverage, error) for coverage, error, _ in known],
                kind="accent",
                name="error",
            ),
        ],
    )


def _dollars(usd: float) -> str:
    return f"${format(Decimal(f'{usd:.3g}').normalize(), 'f')}"


#: Unit → the axis, its columns, how an amount is said, how a tick is.
UNITS: dict[str, tuple[str, str, Callable[[float], str], Callable[[float], str]]] = {
    "USD": ("cost of an answer", "cost", lambda usd: money(usd * NANO), _dollars),
    "calls": ("calls for an answer", "calls", number_tick, number_tick),
    "s": ("time for an answer", "seconds", duration, lambda at: duration(at) if at else "0"),
}


def cost_quality(
    offers: Sequence[Offer],
    *,
    unit: str = "USD",
    log: bool | None = None,
    title: str = "",
    key: str = "cost-quality",
) -> Chart | None:
    """Cost of an answer against how often it is right, of the offers that have both numbers.

    None with fewer than two. ``unit`` is ``USD`` or ``s``; ``log`` None decides by how far apart
    the costs are. Something that costs nothing cannot stand on a logarithmic axis, so then it is
    linear. A line joins the offers that no other beats.
    """
    known = [
        (offer, cost, accuracy)
        for offer in offers
        if (cost := ends(offer.cost)) and (accuracy := ends(offer.accuracy))
    ]
    if len(known) < 2:
        return None
    words, column, say, tick = UNITS[unit]
    best = front([(cost[1], accuracy[1]) for _, cost, accuracy in known])
    across = _cost_axis([cost for _, cost, _ in known], log=log)
    named = all(len(offer.name) <= LONGEST_LABEL for offer, _, _ in known) and len(known) <= 6
    order = sorted(range(len(known)), key=lambda place: (known[place][1][1], known[place][2][1]))
    points = []
    for number, place in enumerate(order, 1):
        offer, cost, accuracy = known[place]
        least, right, most = accuracy
        points.append(
            Point(
                x=cost[1],
                y=right,
                kind=offer.kind,
                x_ends=(cost[0], cost[2]),
                y_ends=(least, most),
                label=(label := offer.label or (offer.name if named else str(number))),
                name="" if label == offer.name else f"{label} {offer.name}",
                quiet=place not in best,
                words=f"{offer.name}: {right:.0%} right ({least:.0%} to {most:.0%}), "
                f"{say(cost[1])}{'' if place in best else ', beaten by another'}",
            )
        )
    stairs = [(known[place][1][1], known[place][2][1]) for place in best]
    return Chart(
        key=key,
        title=title or f"Share right against {words}",
        description=f"{len(best)} of {len(known)} sources are beaten by none: no other is at least "
        "as good for less. Boxes are 95 % intervals in both directions.",
        rows=[
            {
                "source": offer.name,
                "kind": offer.kind,
                **{
                    f"{column} {part}".removesuffix(" value"): value
                    for part, value in figure_columns(offer.cost).items()
                    if part != "note"
                },
                **figure_columns(offer.accuracy),
                "note": "front" if any(offer is known[place][0] for place in best) else "",
            }
            for offer in offers
        ],
        x=Axis(
            title=f"{words}{', each step ten times' if across.log else ''}",
            low=across.low,
            high=across.high,
            log=across.log,
            ticks=across.ticks,
            words=tick,
        ),
        y=Axis(title="share right", low=down_to([accuracy[0] for _, _, accuracy in known])),
        marks=[Line(points=stairs, kind="quiet", dash=1, stairs=True), *points],
        height=200,
    )


def _cost_axis(costs: Sequence[tuple[float, float, float]], *, log: bool | None) -> Axis:
    values = [value for _, value, _ in costs]
    highest = max(high for *_, high in costs)
    apart = max(values) > FAR_APART * min(values) if log is None else log
    if min(values) <= 0 or not apart:
        return Axis(low=0, high=(highest or 1.0) * 1.06)
    lows = [low for low, *_ in costs if low > 0]
    low, high = max(min([*lows, *values]), min(values) / 10) / 1.5, highest * 1.5
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    every = -(-(last - first + 1) // 6) or 1
    return Axis(
        low=low, high=high, log=True, ticks=[10.0**power for power in range(first, last + 1, every)]
    )


def _reason(figure: AnyFigure | None) -> str:
    """Why there is no number, in words; empty where there is one."""
    reason = draw_figure(figure).reason
    return WORDS.get(reason, reason)


def figure_columns(figure: AnyFigure | None) -> Row:
    """A figure as columns of a row; ``note`` is its doubt, or why there is no number."""
    note = (figure or {}).get("doubt", "") if ends(figure) else _reason(figure)
    return {**figure_row(figure), "note": note}
