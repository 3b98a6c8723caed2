"""Charts that several features of agreement share: from plain numbers to a ``Chart``.

Each returns None where there is nothing to draw. A figure is ``{"value", "low", "high", "n",
"method"}`` or ``{"value": None, "reason"}``.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop

from apps.common.charts import (
    Axis,
    Chart,
    Line,
    Mark,
    Name,
    Point,
    Row,
    axis_floor,
    kind_order,
    number_tick,
    share_tick,
)
from apps.common.figures import (
    DrawnFigure,
    dollar_tick,
    draw_figure,
    ends,
    figure_row,
    money,
    range_words,
    share_words,
)
from apps.common.methods import method_words
from labelhub.core.agreement.arms import pareto_front
from labelhub.core.agreement.reports.reasons import WORDS

AnyFigure = Mapping[str, Any]

STEPS = (0.2, 0.4, 0.6, 0.8)
#: Costs that differ by more than this many times are drawn on a logarithmic axis.
FAR_APART = 20
#: Longer names than this are numbers in the plot and names in the legend.
LONGEST_LABEL = 14
NANO = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one source: one, or several by what they measure."""

    name: str
    kind: str
    figures: Mapping[str, AnyFigure]


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to get an answer: its cost and its accuracy.

    ``label`` replaces its name in the plot.
    """

    name: str
    kind: str
    cost: AnyFigure
    accuracy: AnyFigure
    label: str = ""


#: Columns of a chart's table that are shares.
SHARE_COLUMNS = ("value", "low", "high")
#: What the names of shares end with.
_SHARES = (
    "accuracy", "precision", "recall", "percent", "percent_with_abstentions",
    "exact_match", "hamming_loss", "lift_over_guessing",
)  # fmt: skip


def is_share(measure: str) -> bool:
    """Whether the measure is shown as per cent; F1 and coefficients are numbers."""
    return measure.endswith(_SHARES)


def sentence(figure: AnyFigure | None, *, percent: bool = False) -> str:
    """All of a figure in one line: ``0.62 (0.58 to 0.66), n 800``."""
    drawn = draw_figure(figure, percent=percent)
    if drawn.reason:
        return gettext("no number: %(reason)s") % {"reason": _reason(figure)}
    note = f" ({drawn.note})" if drawn.note else ""
    return f"{with_interval(drawn)}{note}{f', n {drawn.n}' if drawn.n else ''}"


def with_interval(drawn: DrawnFigure) -> str:
    """``0.62 (0.58 to 0.66)``, without an interval the value alone."""
    return f"{drawn.value} ({range_words(drawn.low, drawn.high)})" if drawn.low else drawn.value


def step_of(value: float) -> int:
    """The shade of an agreement: 1 to 5 for below 0.2, 0.4, 0.6, 0.8 and above."""
    return 1 + sum(value >= step for step in STEPS)


def scale_figure(figure: AnyFigure, factor: float) -> AnyFigure:
    """``figure`` times ``factor``, with its interval."""
    known = [end for end in ("value", "low", "high") if figure.get(end) is not None]
    return {**figure, **{end: figure[end] * factor for end in known}}


def interval_bars(
    sources: Sequence[Measured],
    *,
    of: str,
    low: float | None = None,
    numbers: Collection[str] = (),
    key: str = "interval-bars",
) -> Chart | None:
    """Shares with their 95 % intervals, one under the other.

    ``of``: the quantity on the axis, such as ``Accuracy against gold``. Sources are in the order of
    the kinds, those of one kind as given; a source with one figure takes one row. ``low`` is where
    the axis begins, None: below all intervals. ``numbers``: the measures that are no shares.
    """
    sources = sorted(sources, key=lambda source: kind_order(source.kind))
    known = [
        found for source in sources for figure in source.figures.values() if (found := ends(figure))
    ]
    if not known:
        return None
    names: list[Name] = []
    marks: list[Mark] = []
    for source in sources:
        several = len(source.figures) > 1
        if several:
            names.append(Name(source.name, source.kind, head=True))
        for measure, figure in source.figures.items():
            percent = measure not in numbers
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
    return Chart(
        key=key,
        title=of,
        description=gettext("%(title)s, with 95 %% intervals.") % {"title": of},
        shares=() if numbers else SHARE_COLUMNS,
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
            low=axis_floor([least for least, *_ in known]) if low is None else low,
            high=max(1.0, *(high for *_, high in known)),
            words=number_tick if numbers else share_tick,
        ),
        y=Axis(names=names, step=21),
        marks=marks,
    )


def dollar_words(dollars: float) -> str:
    """Dollars as :func:`money` prints them."""
    return money(dollars * NANO)


#: Unit → title of the axis, title of the chart, column, words of an amount, words of a tick.
UNITS: dict[str, tuple[str, str, str, Callable[[float], str], Callable[[float], str]]] = {
    "USD": (
        gettext_noop("cost of an answer"),
        gettext_noop("Accuracy against cost of an answer"),
        "cost",
        dollar_words,
        dollar_tick,
    ),
    "calls": (
        gettext_noop("calls for an answer"),
        gettext_noop("Accuracy against calls for an answer"),
        "calls",
        number_tick,
        number_tick,
    ),
}
# Columns of files stay English; a page looks up their translations.
_COLUMNS = (
    gettext_noop("source"), gettext_noop("kind"), gettext_noop("measure"), gettext_noop("note"),
    gettext_noop("cost"), gettext_noop("cost low"), gettext_noop("cost high"),
    gettext_noop("cost n"), gettext_noop("cost method"),
    gettext_noop("calls"), gettext_noop("calls low"), gettext_noop("calls high"),
    gettext_noop("calls n"), gettext_noop("calls method"),
)  # fmt: skip


def cost_quality(
    offers: Sequence[Offer],
    *,
    unit: str = "USD",
    title: str = "",
) -> Chart | None:
    """Cost of an answer against how often it is right, of the offers that have both numbers.

    None with fewer than two. ``unit``: ``USD`` or ``calls``. Costs that are far apart stand
    on a logarithmic axis, unless something costs nothing. A line joins the offers that no other
    beats.
    """
    known = [
        (offer, cost, accuracy)
        for offer in offers
        if (cost := ends(offer.cost)) and (accuracy := ends(offer.accuracy))
    ]
    if len(known) < 2:
        return None
    axis, titled, column, say, tick = UNITS[unit]
    axis = gettext(axis)
    best = pareto_front([(cost[1], accuracy[1]) for _, cost, accuracy in known])
    across = _cost_axis([cost for _, cost, _ in known])
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
                words=_offer_words(offer, say(cost[1]), accuracy, best=place in best),
            )
        )
    stairs = [(known[place][1][1], known[place][2][1]) for place in best]
    return Chart(
        key="cost-quality",
        title=title or gettext(titled),
        description=gettext(
            "%(number)s of %(total)s sources are beaten by none: no other is at least as good for "
            "less. Boxes are 95 %% intervals in both directions."
        )
        % {"number": len(best), "total": len(known)},
        shares=SHARE_COLUMNS,
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
                "note": gettext("front") if any(offer is known[place][0] for place in best) else "",
            }
            for offer in offers
        ],
        x=Axis(
            title=gettext("%(title)s, each step ten times") % {"title": axis}
            if across.log
            else axis,
            low=across.low,
            high=across.high,
            log=across.log,
            ticks=across.ticks,
            words=tick,
        ),
        y=Axis(
            title=gettext("accuracy"), low=axis_floor([accuracy[0] for _, _, accuracy in known])
        ),
        marks=[Line(points=stairs, kind="quiet", dash=1, stairs=True), *points],
        height=200,
    )


def _offer_words(
    offer: Offer, cost: str, accuracy: tuple[float, float, float], *, best: bool
) -> str:
    words = gettext("%(name)s: %(share)s right (%(low)s to %(high)s), %(cost)s")
    if not best:
        words = gettext(
            "%(name)s: %(share)s right (%(low)s to %(high)s), %(cost)s, beaten by another"
        )
    low, right, high = map(share_words, accuracy)
    return words % {"name": offer.name, "share": right, "low": low, "high": high, "cost": cost}


def _cost_axis(costs: Sequence[tuple[float, float, float]]) -> Axis:
    values = [value for _, value, _ in costs]
    highest = max(high for *_, high in costs)
    if min(values) <= 0 or max(values) <= FAR_APART * min(values):
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
    return gettext(WORDS[reason]) if reason in WORDS else reason


def figure_columns(figure: AnyFigure | None) -> Row:
    """A figure as columns of a row; ``note`` is its doubt, or why there is no number."""
    note = method_words((figure or {}).get("doubt", "")) if ends(figure) else _reason(figure)
    method = method_words((figure or {}).get("method") or "")
    return {**figure_row(figure), "method": method or None, "note": note}
