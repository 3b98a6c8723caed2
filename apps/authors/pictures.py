"""Charts of the dashboard. Positions are 0 to 100; the stylesheet sets colours and sizes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from apps.authors.selectors.funnel import Traffic, TrafficBar
from apps.authors.stages import STAGES, stage_name
from apps.common.charts import Axis, Bar, Chart, Name, number_tick
from labelhub.core.interview.funnel import Funnel, FunnelRate, rates

#: The rates below the funnel, with their names.
SIDE_RATES: Mapping[str, str] = {
    "nofit": "None of these fit",
    "skipped": "Skipped",
    "closed": "Closed",
    "expired": "Expired",
    "early": "Clicked too early",
    "optouts": "Opted out",
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
    """A rate with its name, ready for the figure component."""

    key: str
    name: str
    count: int
    figure: Mapping[str, Any]
    definition: str


def figure_of(rate: FunnelRate) -> dict[str, Any]:
    """The rate for the figure component."""
    return asdict(rate)


def funnel_steps(traffic: Traffic) -> tuple[list[Step], list[Step]]:
    """The bars of messages, and those of the questions asked about them."""
    now, found = traffic.now, rates(traffic.now)
    messages = [
        Step("Messages", "written by authors", now.messages, _width(now.messages, now.messages)),
        Step(
            "Worth asking about",
            "relevant, and not filtered out",
            now.taskable,
            _width(now.taskable, now.messages),
            figure_of(found["taskable"]),
            "of messages",
        ),
        Step(
            "Asked about",
            "within pauses, limits and budget",
            now.surveys,
            _width(now.surveys, now.messages),
            figure_of(found["asked"]),
            "of those worth asking about",
        ),
    ]
    total = traffic.questions
    questions = [
        Step("Questions", "about those messages", total, _width(total, total)),
        Step("Shown", "seen by their author", now.shown, _width(now.shown, total)),
        Step(
            "Answered",
            "with one of the options or a word",
            now.answered,
            _width(now.answered, total),
            figure_of(found["answered"]),
            "of those shown",
        ),
    ]
    return messages, questions


def side_rates(funnel: Funnel) -> list[NamedRate]:
    """Other outcomes of shown questions."""
    found = rates(funnel)
    return [
        NamedRate(key, name, found[key].part, figure_of(found[key]), found[key].definition)
        for key, name in SIDE_RATES.items()
    ]


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
            STAGES[stage].decides if stage in STAGES else "",
        )
        for stage in stages
    ]


def charts(bars: Sequence[TrafficBar], *, weeks: bool) -> list[Chart]:
    """Two charts by day or week: messages with those asked about, questions with those answered."""
    start = "week of" if weeks else "day"
    days = [f"{bar.start:%-d %b}" for bar in bars]
    funnels = [(day, bar.funnel) for day, bar in zip(days, bars, strict=True)]
    return [
        _chart(
            "Messages",
            [
                {start: day, "messages": now.messages, "asked about": now.surveys}
                for day, now in funnels
            ],
            "accent",
        ),
        _chart(
            "Questions",
            [
                {
                    start: day,
                    "shown": now.shown,
                    "answered": now.answered,
                    "none fits": now.nofit,
                    "skipped": now.skipped,
                    "opted out": now.optouts,
                }
                for day, now in funnels
            ],
            "author",
        ),
    ]


def _chart(title: str, rows: Sequence[Mapping[str, Any]], kind: str) -> Chart:
    """Bars of the second column of ``rows``, and in front of them its part, the third column."""
    days, wholes, parts = zip(*(list(row.values())[:3] for row in rows), strict=True)
    _, whole, part = list(rows[0])[:3]
    most = max((*wholes, *parts))
    return Chart(
        key=f"traffic-{title}".lower(),
        title=title,
        description=f"{title} from {days[0]} to {days[-1]}: {whole}, and {part}.",
        rows=rows,
        x=Axis(names=[Name(day) for day in days], step=0),
        y=Axis(high=most, ticks=(0, most), words=number_tick),
        marks=[
            Bar(
                x=x,
                top=count,
                kind=colour,
                name=name if x == 0 else "",
                words=f"{days[x]}: {count:,} {name}",
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
