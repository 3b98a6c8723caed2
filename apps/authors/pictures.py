"""Charts of the dashboard. Positions are 0 to 100; the stylesheet sets colours and sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.selectors.funnel import Traffic, TrafficBar
from apps.authors.stages import STAGES, stage_name
from apps.common.charts import Axis, Bar, Chart, Name, number_tick
from apps.common.figures import count_words, day_words, share_words
from labelhub.core.interview.funnel import Funnel, FunnelRate, alerts, rates

#: The rates below the funnel, with their names.
SIDE_RATES: Mapping[str, StrOrPromise] = {
    "nofit": _("None of these fit"),
    "skipped": _("Skipped"),
    "closed": _("Closed"),
    "expired": _("Expired"),
    "early": _("Clicked too early"),
    "optouts": _("Opted out"),
}
_SMALLEST = 0.6


@dataclass(frozen=True, slots=True)
class Step:
    """One bar of the funnel; ``figure``: its share of the bar above."""

    name: str
    words: str
    count: int
    width: str
    figure: Mapping[str, Any] | None = None
    share_of: str = ""


@dataclass(frozen=True, slots=True)
class NamedRate:
    key: str
    name: StrOrPromise
    count: int
    figure: Mapping[str, Any]
    definition: str


def figure_of(rate: FunnelRate) -> dict[str, Any]:
    return asdict(rate)


# Why there is no rate, in the core's words, which the figure's component translates.
_REASONS = (
    gettext_noop("nothing to count yet"),
    gettext_noop("more were counted than there can be; reports are missing"),
)


def funnel_steps(traffic: Traffic) -> tuple[list[Step], list[Step]]:
    """The bars of messages, and those of the questions asked about them."""
    now, found = traffic.now, rates(traffic.now)

    def steps(*rows: tuple[str, str, int, str, str]) -> list[Step]:
        whole = rows[0][2]
        return [
            Step(name, words, count, _width(count, whole),
                 figure_of(found[rate]) if rate else None, share_of)
            for name, words, count, rate, share_of in rows
        ]  # fmt: skip

    messages = steps(
        (gettext("Messages"), gettext("written by authors"), now.messages, "", ""),
        (gettext("Worth asking about"), gettext("relevant, and not filtered out"),
         now.taskable, "taskable", gettext("of messages")),
        (gettext("Asked about"), gettext("within pauses, limits and budget"),
         now.surveys, "asked", gettext("of those worth asking about")),
    )  # fmt: skip
    questions = steps(
        (gettext("Questions"), gettext("about those messages"), traffic.questions, "", ""),
        (gettext("Shown"), gettext("seen by their author"), now.shown, "", ""),
        (gettext("Answered"), gettext("with one of the options or a word"),
         now.answered, "answered", gettext("of those shown")),
    )  # fmt: skip
    return messages, questions


def side_rates(funnel: Funnel) -> list[NamedRate]:
    """Other outcomes of shown questions."""
    found = rates(funnel)
    shown, answered = gettext("of questions shown"), gettext("of questions with an answer")
    return [
        NamedRate(
            key,
            name,
            found[key].part,
            figure_of(found[key]),
            answered if key == "nofit" else shown,
        )
        for key, name in SIDE_RATES.items()
    ]


#: What to read if a rate got worse.
_RISEN: Mapping[str, StrOrPromise] = {
    "nofit": _("“None of these fit” rose from %(before)s to %(now)s: look at the options offered."),
    "optouts": _("Opting out rose from %(before)s to %(now)s of questions shown: ask less often."),
}


def alert_words(now: Funnel, before: Funnel) -> list[str]:
    """What got worse beyond chance, the gravest first."""
    new, old = rates(now), rates(before)
    return [
        _RISEN[alert.name]
        % {"before": _part_words(old[alert.name]), "now": _part_words(new[alert.name])}
        for alert in alerts(now, before)
    ]


def _part_words(rate: FunnelRate) -> str:
    words = gettext("%(share)s (%(part)s of %(n)s)")
    share = share_words(rate.part / rate.n)
    return words % {"share": share, "part": count_words(rate.part), "n": count_words(rate.n)}


def dropped_rates(funnel: Funnel) -> list[NamedRate]:
    """Shares of messages that each stage dropped, in the order of the stages."""
    found, order = rates(funnel), list(STAGES)
    stages = sorted(
        (stage for stage, count in funnel.dropped.items() if count),
        key=lambda stage: order.index(stage) if stage in order else len(order),
    )
    return [
        NamedRate(
            stage,
            stage_name(stage),
            funnel.dropped[stage],
            figure_of(found[f"dropped:{stage}"]),
            str(STAGES[stage].decides) if stage in STAGES else "",
        )
        for stage in stages
    ]


def charts(bars: Sequence[TrafficBar], *, weeks: bool) -> list[Chart]:
    """Two charts by day or week: messages with those asked about, questions with those answered."""
    start = gettext_noop("week of") if weeks else gettext_noop("day")
    days = [day_words(bar.start) for bar in bars]
    funnels = [(day, bar.funnel) for day, bar in zip(days, bars, strict=True)]
    return [
        _chart(
            "messages",
            gettext("Messages"),
            [
                {
                    start: day,
                    gettext_noop("messages"): now.messages,
                    gettext_noop("asked about"): now.surveys,
                }
                for day, now in funnels
            ],
            "accent",
        ),
        _chart(
            "questions",
            gettext("Questions"),
            [
                {
                    start: day,
                    gettext_noop("shown"): now.shown,
                    gettext_noop("answered"): now.answered,
                    gettext_noop("none fits"): now.nofit,
                    gettext_noop("skipped"): now.skipped,
                    gettext_noop("opted out"): now.optouts,
                }
                for day, now in funnels
            ],
            "author",
        ),
    ]


def _chart(key: str, title: str, rows: Sequence[Mapping[str, Any]], kind: str) -> Chart:
    """Bars of the second column of ``rows``, and in front of them its part, the third column."""
    days, wholes, parts = zip(*(list(row.values())[:3] for row in rows), strict=True)
    whole, part = (gettext(column) for column in list(rows[0])[1:3])
    most = max((*wholes, *parts))
    return Chart(
        key=f"traffic-{key}",
        title=title,
        description=gettext("%(title)s from %(first)s to %(last)s.")
        % {"title": title, "first": days[0], "last": days[-1]},
        rows=rows,
        x=Axis(names=[Name(day) for day in days], step=0),
        y=Axis(high=most, ticks=(0, most), words=number_tick),
        marks=[
            Bar(
                x=x,
                top=count,
                kind=colour,
                name=name if x == 0 else "",
                words=f"{days[x]}: {count_words(count)} {name}",
            )
            for counts, colour, name in ((wholes, "quiet", whole), (parts, kind, part))
            for x, count in enumerate(counts)
        ]
        if most
        else [],
        height=120,
    )


def _width(part: int, whole: int) -> str:
    if not whole or not part:
        return "0"
    return f"{max(_SMALLEST, min(100.0, 100 * part / whole)):.2f}"
