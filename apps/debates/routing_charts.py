"""The charts of the routing page: the distribution of a signal, and the effect of its bounds."""

from collections import Counter
from dataclasses import dataclass

from django.utils.translation import gettext, gettext_noop, ngettext

from apps.common.charts import Axis, Bar, Chart, Line, Mark, Point, Rule, number_tick
from apps.common.figures import count_words, localise, share_words
from apps.debates.services.routing_forecast import SignalForecast
from labelhub.core.debate.routing import AT_MOST, Threshold

BINS = 20
#: The fewest different points of an error curve.
FEWEST_POINTS = 2
#: The size of both charts, which are in narrow columns.
WIDTH, HEIGHT = 240.0, 56.0


@dataclass(frozen=True, slots=True)
class SignalCharts:
    """The charts of a signal: its distribution, and the errors of its bounds if they are known."""

    signal: SignalForecast
    spread: Chart
    bounds: Chart | None

    @property
    def name(self) -> str:
        """The signal's."""
        return self.signal.threshold.signal

    @property
    def debates(self) -> int:
        """How many debates have the signal."""
        return len(self.signal.values)


def signal_charts(signal: SignalForecast, items: int) -> SignalCharts:
    """Draw ``signal`` of ``items`` debated items."""
    return SignalCharts(signal, _value_chart(signal), _error_chart(signal, items))


def bound_words(threshold: Threshold, bound: float | None) -> str:
    """``at most 0.5``, or ``off``."""
    if bound is None:
        return gettext("off")
    words = gettext("at least %(bound)s")
    if threshold.side == AT_MOST:
        words = gettext("at most %(bound)s")
    return words % {"bound": localise(f"{bound:g}")}


def _value_chart(signal: SignalForecast) -> Chart:
    """A bar for each whole number or each twentieth; the lowest includes smaller values."""
    threshold, bound = signal.threshold, signal.bound
    size = 1.0 if threshold.whole else (threshold.high - threshold.low) / BINS
    # The bar of a whole number is centred on it; the bar of an interval begins at its start.
    shift = 0.0 if threshold.whole else size / 2
    sent: Counter[float] = Counter()
    kept: Counter[float] = Counter()
    for value in signal.values:
        passed = bound is not None and threshold.passed(value, bound)
        (sent if passed else kept)[threshold.low + _bin(threshold, value) * size + shift] += 1
    places = sorted({*sent, *kept})
    most = max((sent[x] + kept[x] for x in places), default=1)
    beyond, count = sum(sent.values()), len(signal.values)
    marks: list[Mark] = [
        Bar(
            x=x,
            base=base,
            top=top,
            width=size * 0.94,
            kind=kind,
            words=ngettext("%(count)s debate", "%(count)s debates", top - base)
            % {"count": count_words(top - base)},
        )
        for x in places
        for base, top, kind in ((0, sent[x], "warn"), (sent[x], sent[x] + kept[x], "quiet"))
    ]
    if bound is not None:
        edge = 0.0 if not threshold.whole else 0.5 if threshold.side == AT_MOST else -0.5
        marks.append(Rule(x=bound + edge))
    half = size / 2 if threshold.whole else 0
    about = {
        "signal": gettext(threshold.title),
        "beyond": count_words(beyond),
        "count": count_words(count),
        "bound": bound_words(threshold, bound),
    }
    return Chart(
        key=f"signal-{threshold.signal}",
        title=ngettext("%(signal)s of %(count)s debate", "%(signal)s of %(count)s debates", count)
        % about,
        description=ngettext(
            "%(beyond)s debate is beyond the bound (%(bound)s).",
            "%(beyond)s debates are beyond the bound (%(bound)s).",
            beyond,
        )
        % about,
        rows=[
            {gettext_noop("value"): x, gettext_noop("sent"): sent[x], gettext_noop("kept"): kept[x]}
            for x in places
        ],
        x=Axis(
            title=gettext("%(beyond)s of %(count)s beyond") % about,
            low=threshold.low - half,
            high=threshold.high + half,
            ticks=(threshold.low, threshold.high),
            words=number_tick,
        ),
        y=Axis(high=most, ticks=(0, most), words=number_tick),
        marks=marks,
        width=WIDTH,
        height=HEIGHT,
    )


def _bin(threshold: Threshold, value: float) -> int:
    if threshold.whole:
        return min(max(round(value - threshold.low), 0), round(threshold.high - threshold.low))
    share = (value - threshold.low) / (threshold.high - threshold.low)
    return min(max(int(share * BINS), 0), BINS - 1)


def _error_chart(signal: SignalForecast, items: int) -> Chart | None:
    """The error rate of the accepted items by the share that each bound sends."""
    known = [(step, step.error["value"]) for step in signal.steps]
    points = [(step, step.sent / items, error) for step, error in known if error is not None]
    if len({(sent, error) for _, sent, error in points}) < FEWEST_POINTS:
        return None
    top = max(0.05, *(error for *_, error in points))
    return Chart(
        key=f"bounds-{signal.threshold.signal}",
        title=gettext("%(signal)s: the effect of each bound")
        % {"signal": gettext(signal.threshold.title)},
        description=gettext("Error rate of the accepted items, up to %(share)s, by the share sent.")
        % {"share": share_words(top)},
        rows=[
            {
                gettext_noop("bound"): step.bound,
                gettext_noop("share sent"): sent,
                gettext_noop("error"): error,
            }
            for step, sent, error in points
        ],
        shares=("share sent", "error"),
        x=Axis(title=gettext("sent"), ticks=(0, 0.5, 1)),
        y=Axis(
            title=gettext("error rate of the rest"),
            high=top,
            ticks=(0, top),
            words=share_words,
        ),
        marks=[
            Line(points=[(sent, error) for _, sent, error in points]),
            *(
                Point(
                    x=sent,
                    y=error,
                    kind="accent" if step.chosen else "other",
                    label=gettext("now") if step.chosen else "",
                    words=gettext("%(bound)s: %(sent)s sent, error rate of the rest %(error)s")
                    % {
                        "bound": bound_words(signal.threshold, step.bound),
                        "sent": share_words(sent),
                        "error": share_words(error),
                    },
                )
                for step, sent, error in points
            ),
        ],
        width=WIDTH,
        height=HEIGHT,
    )
