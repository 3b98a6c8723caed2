"""What the pages about offers draw. Positions are 0 to 100; colours come from the stylesheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import exp, log
from typing import Any

from apps.echo.offer_words import arm_words
from apps.echo.reporting import ArmComparison, OfferFunnel, OfferReport
from apps.echo.reporting.looking import DayLook
from labelhub.core.echo.experiments.click_through import Part, percent_change

#: Ratios beyond these are drawn at the edge.
WIDEST = 16.0
SMALLEST_BAR = 0.6


@dataclass(frozen=True, slots=True)
class Step:
    """One bar of the funnel: of what it is a share, and how many."""

    name: str
    words: str
    count: int
    width: str


@dataclass(frozen=True, slots=True)
class ForestRow:
    """A ratio with its interval on a scale that all rows share; ``reason`` where there is none."""

    name: str
    value: str
    percent: str
    interval: str
    doubt: str
    reason: str
    x: str = ""
    x_low: str = ""
    x_high: str = ""


@dataclass(frozen=True, slots=True)
class Forest:
    """All rows, where "no difference" is, and what the ends of the scale stand for."""

    rows: Sequence[ForestRow]
    one: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A ratio over the days with its always-valid band; points as SVG wants them."""

    name: str
    line: str
    band: str
    one: str
    low: str
    high: str
    first: date
    last: date
    rows: Sequence[DayLook]


@dataclass(frozen=True, slots=True)
class Table:
    """Parts of the impressions: a row for each, a cell for each arm."""

    key: str
    title: str
    head: str
    note: str
    rows: Sequence[tuple[str, Sequence[Part | None]]]
    left: str = ""


def offer_steps(found: OfferFunnel) -> list[Step]:
    """From a message to a click."""
    told = (
        ("Messages", "that could have had an offer", found.eligible),
        ("An item was chosen", "it fitted, and it was time", found.offered),
        ("Sent", "in their moment", found.sent),
        ("Shown", "on the author's screen", found.shown),
        ("Clicked", "once or more", found.clicked),
    )
    return [Step(name, words, count, _width(count, found.eligible)) for name, words, count in told]


def forest(comparisons: Sequence[ArmComparison]) -> Forest:
    """The ratio of each arm to the control, on a logarithmic scale."""
    ends = [
        end for each in comparisons for end in _known(each.assigned.ratio, "low", "value", "high")
    ]
    scale = _scale(ends)
    rows = [_forest_row(each, scale) for each in comparisons]
    return Forest(rows, _at(1.0, scale), _times(1 / exp(scale)), _times(exp(scale)))


def curve(comparison: ArmComparison) -> Curve | None:
    """The ratio at the end of each day; None before there are two."""
    known = [each for each in comparison.looks if each.look.ratio["value"] is not None]
    if len(known) < 2:
        return None
    scale = _scale([e for each in known for e in _known(each.look.ratio, "low", "value", "high")])
    first, last = known[0].day, known[-1].day
    span = (last - first).days or 1
    xs = [f"{100 * (each.day - first).days / span:.2f}" for each in known]
    ratios = [each.look.ratio for each in known]
    low = [_down(_end(each, "low"), scale) for each in ratios]
    high = [_down(_end(each, "high"), scale) for each in ratios]
    value = [_down(_end(each, "value"), scale) for each in ratios]
    band = [*zip(xs, high, strict=True), *reversed(list(zip(xs, low, strict=True)))]
    return Curve(
        name=arm_words(comparison.arm),
        line=_points(list(zip(xs, value, strict=True))),
        band=_points(band),
        one=_down(1.0, scale),
        low=_times(1 / exp(scale)),
        high=_times(exp(scale)),
        first=first,
        last=last,
        rows=comparison.looks,
    )


def tables(report: OfferReport) -> list[Table]:
    """By day, cumulated, weekday, vertical and time since the first offer, arm beside arm."""
    days = sorted({day.day for arm in report.arms for day in arm.days})
    alone = [{day.day: day.alone for day in arm.days} for arm in report.arms]
    return [
        Table("day", "By day", "Day", "", [(f"{d:%-d %b %Y}", _cells(alone, d)) for d in days]),
        Table(
            "cumulated", "Added up, day by day", "Up to", "All impressions until the end of a day.",
            [(f"{day:%-d %b %Y}", _cumulated(report, day)) for day in days],
        ),
        Table(
            "weekday", "By weekday", "Weekday", "",
            [(name, [arm.weekdays[at] for arm in report.arms]) for at, name in enumerate(WEEKDAYS)],
        ),
        _verticals(report),
        _exposure(report),
    ]  # fmt: skip


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def _cells(found: Sequence[Mapping[Any, Part]], key: Any) -> list[Part | None]:
    return [each.get(key) for each in found]


def _cumulated(report: OfferReport, day: date) -> list[Part | None]:
    """What was known by the end of that day, also where an arm showed nothing on it."""
    found: list[Part | None] = []
    for arm in report.arms:
        until = [each.cumulated for each in arm.days if each.day <= day]
        found.append(until[-1] if until else None)
    return found


def _verticals(report: OfferReport) -> Table:
    found = [dict(arm.verticals.told) for arm in report.arms]
    names = list(dict.fromkeys(name for each in found for name in each))
    few = sorted({name for arm in report.arms for name, _ in arm.verticals.too_few} - set(names))
    least = report.arms[0].verticals.least
    left = f"Fewer than {least} impressions: {', '.join(map(_vertical, few))}." if few else ""
    note = f"Only with {least} impressions or more."
    rows = [(_vertical(name), _cells(found, name)) for name in names]
    return Table("vertical", "By category", "Category", note, rows, left)


def _vertical(name: str) -> str:
    return name or "without a category"


def _exposure(report: OfferReport) -> Table:
    found = [arm.exposure for arm in report.arms]
    days = sorted({day for each in found for day in each})
    note = (
        "Whether the new wears off. Who came late cannot have been there long: later days are of "
        "fewer and other authors, so a fall is not proven to be habit."
    )
    rows = [(f"day {day + 1}", _cells(found, day)) for day in days]
    return Table("exposure", "By time since the first offer", "Since the first", note, rows)


def _forest_row(comparison: ArmComparison, scale: float) -> ForestRow:
    ratio = comparison.assigned.ratio
    value = ratio["value"]
    if value is None:
        return ForestRow(arm_words(comparison.arm), "", "", "", "", ratio["reason"])
    low, high = ratio.get("low"), ratio.get("high")
    interval = "" if low is None or high is None else f"{low:.2f} to {high:.2f}"
    return ForestRow(
        name=arm_words(comparison.arm),
        value=_times(value),
        percent=f"{percent_change(value):+.0f} %".replace("-", "−"),
        interval=interval,
        doubt=ratio.get("doubt", ""),
        reason="",
        x=_at(value, scale),
        x_low=_at(low, scale) if low is not None else "",
        x_high=_at(high, scale) if high is not None else "",
    )


def _known(figure: Mapping[str, Any], *names: str) -> list[float]:
    return [figure[name] for name in names if figure.get(name) is not None]


def _end(figure: Mapping[str, Any], name: str) -> float:
    """An end of an interval; one that has none reaches to the edge."""
    value = figure.get(name)
    if value is None:
        return WIDEST if name == "high" else 1 / WIDEST
    return float(value)


def _scale(ends: Sequence[float]) -> float:
    """Half the width of a logarithmic scale around 1 that holds these ratios."""
    furthest = max((abs(log(min(max(e, 1 / WIDEST), WIDEST))) for e in ends), default=0.0)
    return max(furthest * 1.08, log(2.0))


def _at(ratio: float, scale: float) -> str:
    """Where a ratio is, from left to right."""
    place = log(max(ratio, 1e-9)) / scale
    return f"{50 + 50 * min(max(place, -1.0), 1.0):.2f}"


def _down(ratio: float, scale: float) -> str:
    """Where a ratio is, from the top."""
    return f"{100 - float(_at(ratio, scale)):.2f}"


def _points(pairs: Sequence[tuple[str, str]]) -> str:
    return " ".join(f"{x},{y}" for x, y in pairs)


def _times(ratio: float) -> str:
    return f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:.0f} ×"


def _width(part: int, whole: int) -> str:
    if not whole or not part:
        return "0"
    return f"{max(SMALLEST_BAR, min(100.0, 100 * part / whole)):.2f}"
