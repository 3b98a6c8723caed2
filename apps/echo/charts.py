"""The charts and table rows of Echo's pages. Positions are 0 to 100; colours come from CSS."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from apps.common.charts import Axis, Chart, Line, Point, Rule, number_tick
from apps.common.figures import count_words, range_words, share_words
from apps.echo.selectors.predictions import FEW_POINTS, Tally, merged_tallies, total_tally
from labelhub.core.wilson import wilson_bounds

_Z = 1.96
_METHOD = _("Wilson score interval; assumes independent answers")


def right_figure(tallies: Sequence[Tally]) -> dict[str, Any]:
    """The share of right predictions, for the figure component."""
    whole = total_tally(tallies)
    return share_figure(whole.n - whole.wrong, whole.n, gettext("no answers yet"))


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
    found = [
        (tally.upto - tally.n / 2, tally, wilson_bounds(tally.right, tally.n, _Z))
        for tally in stretches
    ]
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
            for _, tally, (low, high) in found
        ],
        shares=("right", "low", "high"),
        x=Axis(title=gettext("answers so far"), high=stretches[-1].upto, words=number_tick),
        y=Axis(title=gettext("accuracy")),
        marks=[
            Line(
                points=[(x, tally.right) for x, tally, _ in found],
                band=[(x, *ends) for x, _, ends in found],
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
                for x, tally, _ in found
            ),
        ],
        height=190,
    )


def reliability_chart(parts: Sequence[Tally]) -> Chart | None:
    """Calibration: the share of wrong predictions by σ; None without answers."""
    if not parts:
        return None
    shares = [(tally.sigma / tally.n, tally.wrong / tally.n, tally.n) for tally in parts]
    found = [(doubt, wrong, wilson_bounds(wrong, n, _Z), n) for doubt, wrong, n in shares]
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
    features: Sequence[Mapping[str, Any]], tallies: Mapping[str, Sequence[Tally]]
) -> list[dict[str, Any]]:
    """The rows of the table of features, with their answers over time: the bars of their relevance
    are on a common scale, 0 to 100 from the left, as are the points of the sparklines."""
    scale = Axis(
        low=min([0.0, *(feature["gain_low"] for feature in features)]),
        high=max([0.01, *(feature["gain_high"] for feature in features)]),
    )
    rows = []
    for feature in features:
        gains = {"value": feature["gain"], "low": feature["gain_low"], "high": feature["gain_high"]}
        zero, end, low, high = (
            round(100 * scale.share(value), 1) for value in (0, *gains.values())
        )
        width = round(abs(end - zero), 1)
        bar = {"start": zero, "left": min(zero, end), "width": width, "low": low, "high": high}
        own = tallies.get(feature["key"], ())
        row: dict[str, Any] = {
            "learnt": feature,
            "points": {name: 100 * gain for name, gain in gains.items()},
            # As texts: templates would write numbers in the reader's language.
            "bar": {name: str(share) for name, share in bar.items()},
            "right": right_figure(own),
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
