"""The charts and table rows of Echo's pages. Positions are 0 to 100; colours come from CSS."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
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
from apps.echo.selectors.learning import FeatureSummary
from apps.echo.selectors.predictions import FEW_POINTS, Tally, merged_tallies, total_tally
from labelhub.core.echo.experiments.click_through import ArmPart, percent_change
from labelhub.core.wilson import wilson_bounds

_Z = 1.96
_METHOD = _("Wilson score interval; assumes independent answers")


def right_figure(tally: Tally | None) -> dict[str, Any]:
    """The share of right predictions, for the figure component."""
    right, n = (tally.n - tally.wrong, tally.n) if tally else (0.0, 0)
    return share_figure(right, n, gettext("no answers yet"))


def share_figure(part: float, n: int, reason: str) -> dict[str, Any]:
    """A share of counts with its interval, or the reason why there is none."""
    if not n:
        return {"value": None, "reason": reason}
    low, high = wilson_bounds(part / n, n, _Z)
    return {"value": part / n, "low": low, "high": high, "n": n, "method": _METHOD}


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
                    words=gettext("accuracy %(share)s of %(count)s answers")
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


def feature_rows(
    features: Sequence[FeatureSummary], tallies: Mapping[str, Sequence[Tally]]
) -> list[dict[str, Any]]:
    """The rows of the table of features, with their answers over time: the bars of their relevance
    are on a common scale, 0 to 100 from the left, as are the points of the sparklines."""
    scale = Axis(
        low=min([0.0, *(feature.gain_low for feature in features)]),
        high=max([0.01, *(feature.gain_high for feature in features)]),
    )
    rows = []
    for feature in features:
        zero, end, low, high = (
            round(100 * scale.share(value), 1)
            for value in (0, feature.gain, feature.gain_low, feature.gain_high)
        )
        own = tallies.get(feature.key, ())
        width = round(abs(end - zero), 1)
        bar = {"start": zero, "left": min(zero, end), "width": width, "low": low, "high": high}
        right = right_figure(total_tally(own) if own else None)
        # As texts: templates would write numbers in the reader's language.
        row: dict[str, Any] = {
            "learnt": feature,
            "points": {
                "value": 100 * feature.gain,
                "low": 100 * feature.gain_low,
                "high": 100 * feature.gain_high,
            },
            "bar": {name: str(share) for name, share in bar.items()},
            "right": right,
        }
        stretches = merged_tallies(own, FEW_POINTS)
        if len(stretches) > 1:
            step = 96 / (len(stretches) - 1)
            row["spark"] = " ".join(
                f"{2 + step * number:.1f},{92 - 84 * tally.right:.1f}"
                for number, tally in enumerate(stretches)
            )
            first, last = (share_words(stretches[place].right) for place in (0, -1))
            row["spark_words"] = range_words(first, last)
        rows.append(row)
    return rows


#: Ratios beyond this are drawn at the edge.
WIDEST = 16.0
SMALLEST_BAR = 0.6


def offer_steps(funnel: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps of the funnel, from messages to clicks: name, words, count and width of the bar."""
    steps = (
        ("eligible", gettext("Messages"), gettext("that could have had an offer")),
        ("offered", gettext("Item chosen"), gettext("it fitted, and an offer was due")),
        ("sent", gettext("Sent"), gettext("in time")),
        ("shown", gettext("Shown"), gettext("on the author's screen")),
        ("clicked", gettext("Clicked"), gettext("once or more")),
    )
    # At least one, as sites without messages have the page too.
    whole = max(1, funnel["eligible"])
    return [
        {
            "name": name,
            "words": words,
            "count": funnel[key],
            "width": f"{max(SMALLEST_BAR, 100 * funnel[key] / whole):.2f}" if funnel[key] else "0",
        }
        for key, name, words in steps
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


def impression_tables(report: OfferReport) -> list[dict[str, Any]]:
    """Breakdowns by day, weekday and category: a row per part, a cell per arm."""
    arms = report.arms
    days, weekdays, verticals = (
        [getattr(arm, name) for arm in arms] for name in ("days", "weekdays", "verticals")
    )
    return [
        {
            "title": gettext("By day"),
            "head": gettext("Day"),
            "rows": [(date_format(day), cells) for day, cells in sorted(_cells(days).items())],
        },
        {
            "title": gettext("By weekday"),
            "head": gettext("Weekday"),
            "rows": [
                (str(WEEKDAYS[day]), cells) for day, cells in sorted(_cells(weekdays).items())
            ],
        },
        {
            "title": gettext("By category"),
            "head": gettext("Category"),
            "rows": [
                (name or gettext("without a category"), cells)
                for name, cells in _cells(verticals).items()
            ],
        },
    ]


def _cells(found: Sequence[Mapping[Any, ArmPart]]) -> dict[Any, list[ArmPart | None]]:
    keys = dict.fromkeys(key for parts in found for key in parts)
    return {key: [parts.get(key) for parts in found] for key in keys}


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
