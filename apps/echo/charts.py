"""The charts and table rows of Echo's pages. Positions are 0 to 100; colours come from CSS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import exp, log
from typing import Any

from django.utils.dates import WEEKDAYS
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from apps.common.charts import Axis, Chart, Line, Mark, Name, Point, Rule, number_tick
from apps.common.figures import (
    count_words,
    day_words,
    ends,
    figure_row,
    localise,
    range_words,
    share_words,
)
from apps.echo.offer_words import arm_words
from apps.echo.reporting.click_through import ArmComparison, OfferReport
from apps.echo.reporting.funnel import OfferFunnel
from apps.echo.selectors.learning import FeatureHistory
from apps.echo.selectors.predictions import FEW_POINTS, Tally, merged_tallies
from labelhub.core.echo.experiments.click_through import ArmPart, percent_change
from labelhub.core.wilson import wilson_bounds

_Z = 1.96
_METHOD = _("Wilson score interval; assumes independent answers")


@dataclass(frozen=True, slots=True)
class RelevanceBar:
    """The bar of a relevance, in 0 to 100 from the left; ``start``: the position of zero."""

    start: str
    left: str
    width: str
    low: str
    high: str


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """A feature in the table."""

    learnt: FeatureHistory
    bar: RelevanceBar
    right: Mapping[str, Any]
    spark: str
    spark_words: str


def right_figure(tally: Tally | None) -> dict[str, Any]:
    """The share of right predictions, for the figure component."""
    if tally is None:
        return {"value": None, "reason": gettext("no answers yet")}
    low, high = wilson_bounds(tally.right, tally.n, _Z)
    return {
        "value": tally.right,
        "low": low,
        "high": high,
        "n": tally.n,
        "method": _METHOD,
    }


def share_figure(part: int, n: int, reason: str) -> dict[str, Any]:
    """A share of counts with its interval, or the reason why there is none."""
    if not n:
        return {"value": None, "reason": reason}
    low, high = wilson_bounds(part / n, n, _Z)
    return {
        "value": part / n,
        "low": low,
        "high": high,
        "n": n,
        "method": _METHOD,
    }


def accuracy_chart(tallies: Sequence[Tally]) -> Chart | None:
    """The share of right predictions over the answers; None if there are too few for a line."""
    stretches = merged_tallies(tallies)
    if len(stretches) < 2:
        return None
    bounds = [wilson_bounds(tally.right, tally.n, _Z) for tally in stretches]
    middles = [tally.upto - tally.n / 2 for tally in stretches]
    first, last = share_words(stretches[0].right), share_words(stretches[-1].right)
    return Chart(
        key="echo-accuracy",
        title=gettext("Accuracy by number of answers"),
        description=gettext(
            "From %(first)s at first to %(last)s of the newest answers; 95 %% intervals."
        )
        % {"first": first, "last": last},
        rows=[
            {
                gettext_noop("answers so far"): tally.upto,
                gettext_noop("right"): tally.right,
                gettext_noop("low"): low,
                gettext_noop("high"): high,
                gettext_noop("answers"): tally.n,
            }
            for tally, (low, high) in zip(stretches, bounds, strict=True)
        ],
        shares=("right", "low", "high"),
        x=Axis(title=gettext("answers so far"), high=stretches[-1].upto, words=number_tick),
        y=Axis(title=gettext("accuracy")),
        marks=[
            Line(
                points=[(x, tally.right) for x, tally in zip(middles, stretches, strict=True)],
                band=[(x, *ends) for x, ends in zip(middles, bounds, strict=True)],
                kind="author",
            ),
            *(
                Point(
                    x=x,
                    y=tally.right,
                    words=gettext("%(share)s right of %(count)s answers")
                    % {"share": share_words(tally.right), "count": count_words(tally.n)},
                    kind="author",
                )
                for x, tally in zip(middles, stretches, strict=True)
            ),
        ],
        height=190,
    )


def reliability_chart(parts: Sequence[Tally]) -> Chart | None:
    """Calibration: the share of wrong predictions by σ; None without answers."""
    if not parts:
        return None
    found = [
        (
            tally.sigma / tally.n,
            tally.wrong / tally.n,
            wilson_bounds(tally.wrong / tally.n, tally.n, _Z),
            tally.n,
        )
        for tally in parts
    ]
    return Chart(
        key="echo-reliability",
        title=gettext("Calibration of the uncertainty"),
        description=gettext(
            "For predictions with about the same uncertainty, the share of wrong ones with its "
            "interval. The dashed line is perfect calibration."
        ),
        rows=[
            {
                gettext_noop("uncertainty"): doubt,
                gettext_noop("wrong"): wrong,
                gettext_noop("low"): low,
                gettext_noop("high"): high,
                gettext_noop("answers"): n,
            }
            for doubt, wrong, (low, high), n in found
        ],
        shares=("uncertainty", "wrong", "low", "high"),
        x=Axis(title=gettext("uncertainty before the answer")),
        y=Axis(title=gettext("share of wrong predictions")),
        marks=[
            Rule(name=gettext("calibrated")),
            *(
                Point(
                    x=doubt,
                    y=wrong,
                    y_ends=ends,
                    kind="author",
                    words=gettext("%(share)s wrong of %(count)s answers")
                    % {"share": share_words(wrong), "count": count_words(n)},
                )
                for doubt, wrong, ends, n in found
            ),
        ],
        height=190,
    )


def feature_rows(features: Sequence[FeatureHistory]) -> list[FeatureRow]:
    """The features of one page of the table, their relevance on a common scale."""
    scale = Axis(
        low=min([0.0, *(feature.low for feature in features)]),
        high=max([0.05, *(feature.high for feature in features)]),
    )
    return [
        FeatureRow(
            feature, _bar(feature, scale), right_figure(feature.all), *_spark(feature.tallies)
        )
        for feature in features
    ]


def _bar(feature: FeatureHistory, scale: Axis) -> RelevanceBar:
    zero, end, low, high = (
        round(100 * scale.share(value), 1)
        for value in (0, feature.relevance, feature.low, feature.high)
    )
    left, width = str(min(zero, end)), str(round(abs(end - zero), 1))
    return RelevanceBar(start=str(zero), left=left, width=width, low=str(low), high=str(high))


def _spark(tallies: Sequence[Tally]) -> tuple[str, str]:
    """The points of a sparkline and its description; empty if there are too few answers."""
    stretches = merged_tallies(tallies, FEW_POINTS)
    if len(stretches) < 2:
        return "", ""
    step = 96 / (len(stretches) - 1)
    places = [
        f"{2 + step * number:.1f},{92 - 84 * tally.right:.1f}"
        for number, tally in enumerate(stretches)
    ]
    words = range_words(share_words(stretches[0].right), share_words(stretches[-1].right))
    return " ".join(places), words


#: Ratios beyond this are drawn at the edge.
WIDEST = 16.0
SMALLEST_BAR = 0.6


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """One bar of the funnel: its name, description, count and width."""

    name: str
    words: str
    count: int
    width: str


@dataclass(frozen=True, slots=True)
class ImpressionTable:
    """A breakdown of the impressions: a row per part, a cell per arm."""

    key: str
    title: str
    head: str
    note: str
    rows: Sequence[tuple[str, Sequence[ArmPart | None]]]
    left: str = ""


def offer_steps(found: OfferFunnel) -> list[FunnelStep]:
    """The steps of the funnel, from messages to clicks."""
    steps = (
        (gettext("Messages"), gettext("that could have had an offer"), found.eligible),
        (gettext("Item chosen"), gettext("it fitted, and an offer was due"), found.offered),
        (gettext("Sent"), gettext("in time"), found.sent),
        (gettext("Shown"), gettext("on the author's screen"), found.shown),
        (gettext("Clicked"), gettext("once or more"), found.clicked),
    )
    return [
        FunnelStep(name, words, count, _width(count, found.eligible))
        for name, words, count in steps
    ]


def ratio_chart(comparisons: Sequence[ArmComparison]) -> Chart | None:
    """The ratio of each arm to the control, on a logarithmic scale; None if there is no arm."""
    if not comparisons:
        return None
    ratios = [comparison.assigned.ratio for comparison in comparisons]
    arms = [arm_words(comparison.arm) for comparison in comparisons]
    axis = _ratio_axis([value for ratio in ratios if (found := ends(ratio)) for value in found])
    names: list[Name] = []
    marks: list[Mark] = [Rule(x=1.0, name=gettext("no difference"))]
    for row, (arm, ratio) in enumerate(zip(arms, ratios, strict=True)):
        value = ratio["value"]
        if value is None:
            names.append(Name(arm, reason=ratio["reason"]))
            continue
        change = f"{percent_change(value):+.0f} %".replace("-", "−")
        names.append(Name(arm, value=_times(value), n=change))
        low, high = _open_ends(ratio)
        marks.append(
            Point(
                x=value,
                y=row,
                x_ends=None if ratio.get("low") is None else (low, high),
                kind="accent",
                words=gettext("%(arm)s: %(value)s, %(low)s to %(high)s")
                % {
                    "arm": arm,
                    "value": _times(value),
                    "low": localise(f"{low:.2f}"),
                    "high": localise(f"{high:.2f}"),
                },
            )
        )
    return Chart(
        key="forest",
        title=gettext("Clicks per message against the control"),
        description=gettext("The ratio of each arm with its interval, on a logarithmic scale."),
        rows=[
            {
                gettext_noop("arm"): arm,
                **figure_row(ratio),
                gettext_noop("note"): ratio.get("doubt") or ratio.get("reason") or "",
            }
            for arm, ratio in zip(arms, ratios, strict=True)
        ],
        x=axis,
        y=Axis(names=names, step=26),
        marks=marks,
    )


def daily_ratio_chart(comparison: ArmComparison, control: str) -> Chart | None:
    """The ratio at the end of each day; None if there are fewer than two."""
    known = [look for look in comparison.looks if ends(look.look.ratio)]
    if len(known) < 2:
        return None
    ratios, first = [look.look.ratio for look in known], known[0].day
    values = [ratio["value"] or 0.0 for ratio in ratios]
    days = [(look.day - first).days for look in known]
    arm = arm_words(comparison.arm)
    return Chart(
        key=f"ratio-{comparison.arm}",
        title=gettext("%(arm)s against %(control)s") % {"arm": arm, "control": control},
        description=gettext(
            "Ratio at the end of each day, with an interval that is valid for any number of looks, "
            "%(first)s to %(last)s."
        )
        % {"first": day_words(first), "last": day_words(known[-1].day)},
        rows=[
            {gettext_noop("day"): date_format(look.day), **figure_row(ratio)}
            for look, ratio in zip(known, ratios, strict=True)
        ],
        x=Axis(
            high=days[-1],
            ticks=(0, days[-1]),
            words=lambda day: day_words(first + timedelta(days=round(day))),
        ),
        y=_ratio_axis([*values, *(end for ratio in ratios for end in _open_ends(ratio))]),
        marks=[
            Rule(y=1.0, name=gettext("no difference")),
            Line(
                points=list(zip(days, values, strict=True)),
                band=[(day, *_open_ends(ratio)) for day, ratio in zip(days, ratios, strict=True)],
                kind="accent",
            ),
        ],
        height=130,
    )


def impression_tables(report: OfferReport) -> list[ImpressionTable]:
    """Breakdowns by day, weekday, category and time since the first offer, side by side by arm."""
    days = sorted({day.day for arm in report.arms for day in arm.days})
    alone = [{day.day: day.alone for day in arm.days} for arm in report.arms]
    return [
        ImpressionTable(
            "day", gettext("By day"), gettext("Day"), "",
            [(date_format(day), _cells(alone, day)) for day in days],
        ),
        ImpressionTable(
            "cumulated", gettext("Cumulative, by day"), gettext("Up to"),
            gettext("All impressions up to the end of a day."),
            [(date_format(day), _cumulated(report, day)) for day in days],
        ),
        ImpressionTable(
            "weekday", gettext("By weekday"), gettext("Weekday"), "",
            [
                (str(name), [arm.weekdays[day] for arm in report.arms])
                for day, name in WEEKDAYS.items()
            ],
        ),
        _verticals(report),
        _exposure(report),
    ]  # fmt: skip


def _cells(found: Sequence[Mapping[Any, ArmPart]], key: Any) -> list[ArmPart | None]:
    return [arm_parts.get(key) for arm_parts in found]


def _cumulated(report: OfferReport, day: date) -> list[ArmPart | None]:
    """The totals at the end of that day, also for arms without impressions on it."""
    found: list[ArmPart | None] = []
    for arm in report.arms:
        until = [day_part.cumulated for day_part in arm.days if day_part.day <= day]
        found.append(until[-1] if until else None)
    return found


def _verticals(report: OfferReport) -> ImpressionTable:
    found = [dict(arm.verticals.told) for arm in report.arms]
    names = list(dict.fromkeys(name for parts in found for name in parts))
    few = sorted({name for arm in report.arms for name, _ in arm.verticals.too_few} - set(names))
    least = report.arms[0].verticals.least
    left = ""
    if few:
        left = gettext("Fewer than %(least)s impressions: %(names)s.") % {
            "least": least,
            "names": ", ".join(map(_vertical, few)),
        }
    note = gettext("Only categories with at least %(least)s impressions.") % {"least": least}
    rows = [(_vertical(name), _cells(found, name)) for name in names]
    return ImpressionTable(
        "vertical", gettext("By category"), gettext("Category"), note, rows, left
    )


def _vertical(name: str) -> str:
    return name or gettext("without a category")


def _exposure(report: OfferReport) -> ImpressionTable:
    found = [arm.exposure for arm in report.arms]
    days = sorted({day for parts in found for day in parts})
    note = gettext(
        "Shows whether interest in offers wears off. Recent authors have no later days yet, so "
        "these include fewer and other authors: a fall does not prove that interest wears off."
    )
    rows = [(gettext("day %(number)s") % {"number": day + 1}, _cells(found, day)) for day in days]
    return ImpressionTable(
        "exposure", gettext("By time since the first offer"), gettext("Time"), note, rows
    )


def _open_ends(figure: Mapping[str, Any]) -> tuple[float, float]:
    """Both ends of an interval; a missing end reaches to the edge."""
    low, high = figure.get("low"), figure.get("high")
    return (1 / WIDEST if low is None else float(low), WIDEST if high is None else float(high))


def _ratio_axis(ratios: Sequence[float]) -> Axis:
    """A logarithmic axis around 1 that covers these ratios, within ``WIDEST``."""
    furthest = max((abs(log(min(max(ratio, 1 / WIDEST), WIDEST))) for ratio in ratios), default=0.0)
    end = exp(max(furthest * 1.08, log(2.0)))
    return Axis(low=1 / end, high=end, log=True, ticks=(1 / end, 1.0, end), words=_times)


def _times(ratio: float) -> str:
    return localise(f"{ratio:.2f} ×" if ratio < 10 else f"{ratio:.0f} ×")


def _width(part: int, whole: int) -> str:
    if not whole or not part:
        return "0"
    return f"{max(SMALLEST_BAR, min(100.0, 100 * part / whole)):.2f}"
