"""What the dashboard draws. Positions are 0 to 100; colours and sizes come from the stylesheet."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from apps.authors.selectors.funnel import Traffic, TrafficBar
from apps.authors.stages import STAGES, stage_name
from labelhub.core.interview.funnel import Funnel, Rate, rates

#: The rates below the funnel, and how they are named there.
SIDE_RATES: Mapping[str, str] = {
    "nofit": "None of these fits",
    "skipped": "Skipped",
    "closed": "Closed",
    "expired": "Not in time",
    "early": "Clicked too early",
    "optouts": "Opted out",
}
_SMALLEST = 0.6


@dataclass(frozen=True, slots=True)
class Step:
    """One bar of the funnel; ``figure``: the share of the bar above that came so far."""

    name: str
    words: str
    count: int
    width: str
    figure: Mapping[str, Any] | None = None
    share_of: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """A rate with its name, ready for the figure component."""

    key: str
    name: str
    count: int
    figure: Mapping[str, Any]
    definition: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One day or week: the whole and the part of it, as heights from the bottom."""

    x: str
    width: str
    y: str
    height: str
    part_y: str
    part_height: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars over time; ``top`` is what the highest stands for."""

    title: str
    whole: str
    part: str
    bars: Sequence[Bar]
    top: int
    first: datetime
    last: datetime


def figure_of(rate: Rate) -> dict[str, Any]:
    """The rate as the figure component takes it."""
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
            "within pauses, caps and budget",
            now.surveys,
            _width(now.surveys, now.messages),
            figure_of(found["asked"]),
            "of those worth it",
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


def side_rates(funnel: Funnel) -> list[Named]:
    """What else happens to questions that are shown."""
    found = rates(funnel)
    return [
        Named(key, name, found[key].part, figure_of(found[key]), found[key].definition)
        for key, name in SIDE_RATES.items()
    ]


def dropped_rates(funnel: Funnel) -> list[Named]:
    """What each stage dropped, in the order in which messages meet the stages."""
    found, order = rates(funnel), list(STAGES)
    stages = sorted(
        (stage for stage, count in funnel.dropped.items() if count),
        key=lambda stage: order.index(stage) if stage in order else len(order),
    )
    return [
        Named(
            stage,
            stage_name(stage),
            funnel.dropped[stage],
            figure_of(found[f"dropped:{stage}"]),
            STAGES[stage].decides if stage in STAGES else "",
        )
        for stage in stages
    ]


def charts(bars: Sequence[TrafficBar]) -> list[Chart]:
    """Messages with those asked about, and questions shown with those answered."""
    return [
        _chart("Messages", "messages", "asked about", bars, _messages),
        _chart("Questions", "shown", "answered", bars, _questions),
    ]


def _messages(funnel: Funnel) -> tuple[int, int]:
    return funnel.messages, funnel.surveys


def _questions(funnel: Funnel) -> tuple[int, int]:
    return funnel.shown, funnel.answered


def _chart(
    title: str,
    whole: str,
    part: str,
    bars: Sequence[TrafficBar],
    of: Callable[[Funnel], tuple[int, int]],
) -> Chart:
    pairs = [of(bar.funnel) for bar in bars]
    top = max((max(pair) for pair in pairs), default=0)
    drawn = list(_bars(pairs, top)) if top else []
    return Chart(title, whole, part, drawn, top, bars[0].start, bars[-1].start)


def _bars(pairs: Sequence[tuple[int, int]], top: int) -> Iterable[Bar]:
    step = 100 / len(pairs)
    for index, (whole, part) in enumerate(pairs):
        high, low = 100 * whole / top, 100 * part / top
        yield Bar(
            x=_n(index * step + step * 0.12),
            width=_n(step * 0.76),
            y=_n(100 - high),
            height=_n(high),
            part_y=_n(100 - low),
            part_height=_n(low),
        )


def _width(part: int, whole: int) -> str:
    if not whole or not part:
        return "0"
    return _n(max(_SMALLEST, min(100.0, 100 * part / whole)))


def _n(number: float) -> str:
    return f"{number:.2f}"
