"""Count impressions and clicks (paper 004, appendix A.1).

A count depends on the *set* of events only: repeated, late or reordered events change nothing, and
no state is kept between events.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from labelhub.core.errors import InvalidInput

#: Seconds between two messages of one author that are too short to read the first offer: the
#: shortest reading time of a question in the paper (section 2.2). The paper merges impressions that
#: came "too quickly" without a number.
MERGE_WITHIN = 5.0


@dataclass(frozen=True, slots=True, order=True)
class ShownContent:
    """A display of content on an author's screen; each display and each reload is an event.

    Args:
        id: of this event; the same id is the same event.
        content: id of the content; another display of the same content is no new impression.
        author: of the message.
        unit: the unit of assignment: the author, or the index of a window as text.
        vertical: of the recommended item.
        message_at: when the author's message was sent, with its time zone.
    """

    id: str
    content: str
    author: str
    unit: str
    vertical: str
    message_at: datetime


@dataclass(frozen=True, slots=True, order=True)
class Click:
    """A click on ``content``; the same id is the same click."""

    id: str
    content: str


Event = TypeVar("Event", ShownContent, Click)


@dataclass(frozen=True, slots=True)
class Impression:
    """One counted impression: the first of those that were merged into it.

    Args:
        contents: ids of all merged contents, the first one first.
        clicks: number of clicks on any of them.
        at: when the message was sent.
    """

    contents: tuple[str, ...]
    author: str
    unit: str
    vertical: str
    at: datetime
    clicks: int


@dataclass(frozen=True, slots=True)
class Counted:
    """All impressions, in order of time and content.

    Args:
        unmatched: number of clicks on content without a known display (yet).
    """

    impressions: tuple[Impression, ...]
    unmatched: int


def count(events: Iterable[ShownContent | Click]) -> Counted:
    """The impressions and clicks of a log.

    An author's impressions (in the same unit) whose messages follow one another within less than
    ``MERGE_WITHIN`` seconds are one, however many follow: a row of quick messages is one.

    Args:
        events: in any order, with repetitions; of different events with one id the smallest
            counts.

    Raises:
        InvalidInput: a message's time has no time zone.
    """
    every = set(events)
    if any(isinstance(event, ShownContent) and event.message_at.tzinfo is None for event in every):
        raise InvalidInput.at("message_at", "A message's time comes with its time zone.")
    displays = _by_id(event for event in every if isinstance(event, ShownContent))
    clicks = _by_id(event for event in every if isinstance(event, Click))
    on: defaultdict[str, int] = defaultdict(int)
    for click in clicks:
        on[click.content] += 1
    first: dict[str, ShownContent] = {}
    for display in sorted(displays, key=lambda shown: (_sent(shown), shown)):
        first.setdefault(display.content, display)
    rows = _merge_rows(list(first.values()))
    found = sorted(
        (
            Impression(
                contents=tuple(display.content for display in row),
                author=row[0].author,
                unit=row[0].unit,
                vertical=row[0].vertical,
                at=row[0].message_at,
                clicks=sum(on.get(display.content, 0) for display in row),
            )
            for row in rows
        ),
        key=lambda i: (i.at.timestamp(), i.contents),
    )
    unmatched = len(clicks) - sum(impression.clicks for impression in found)
    return Counted(tuple(found), unmatched)


def _by_id(events: Iterable[Event]) -> list[Event]:
    """The smallest event of each id."""
    return list({event.id: event for event in sorted(events, reverse=True)}.values())


def _merge_rows(displays: Iterable[ShownContent]) -> list[list[ShownContent]]:
    """Displays in order of time, those in one row of quick messages together."""
    rows: list[list[ShownContent]] = []
    latest: dict[tuple[str, str], list[ShownContent]] = {}
    for display in displays:
        row = latest.get((display.author, display.unit))
        if row and _sent(display) - _sent(row[-1]) < MERGE_WITHIN:
            row.append(display)
            continue
        latest[display.author, display.unit] = [display]
        rows.append(latest[display.author, display.unit])
    return rows


def _sent(display: ShownContent) -> float:
    """The time in seconds: Python compares times of one zone by local clocks, which go back once a
    year."""
    return display.message_at.timestamp()
