"""Click-through of one arm by day, weekday, vertical and time since first exposure.

A click belongs to the impression it was made on and is told where that impression is, whenever it
came: so no part has clicks on what was shown in another. Rates are clicks per impression, clustered
by unit within each part.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from typing import TypeVar

from labelhub.core.echo.experiments.click_through import clicks_per, of_impressions
from labelhub.core.echo.experiments.figures import Figure
from labelhub.core.echo.experiments.impressions import Impression
from labelhub.core.errors import InvalidInput

#: The least with which the paper names a vertical (section 4.2, figure 5).
LEAST_IMPRESSIONS = 180
SECONDS_OF_DAY = 86_400

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Part:
    """Some of an arm's impressions."""

    impressions: int
    clicks: int
    click_through: Figure


@dataclass(frozen=True, slots=True)
class Day:
    """One day in the given time zone, and all days up to its end."""

    day: date
    alone: Part
    cumulated: Part


@dataclass(frozen=True, slots=True)
class Verticals:
    """By vertical, most impressions first; ``too_few`` are those below the minimum, unrated."""

    told: tuple[tuple[str, Part], ...]
    too_few: tuple[tuple[str, int], ...]
    least: int


def by_day(impressions: Iterable[Impression], zone: tzinfo) -> list[Day]:
    """Each day on which something was shown, in order, alone and with all before it."""
    every = sorted(impressions, key=_sent)
    days = _grouped(every, lambda impression: impression.at.astimezone(zone).date())
    found, seen = [], 0
    for day, shown in sorted(days.items()):
        seen += len(shown)
        found.append(Day(day, _part(shown), _part(every[:seen])))
    return found


def by_weekday(impressions: Iterable[Impression], zone: tzinfo) -> list[Part]:
    """Monday to Sunday in ``zone``: seven parts, also those in which nothing was shown."""
    days = _grouped(impressions, lambda impression: impression.at.astimezone(zone).weekday())
    return [_part(days.get(weekday, [])) for weekday in range(7)]


def by_vertical(impressions: Iterable[Impression], least: int = LEAST_IMPRESSIONS) -> Verticals:
    """Each vertical with at least ``least`` impressions; the others by name and number alone.

    Raises ``InvalidInput`` where ``least`` is not positive.
    """
    if least < 1:
        raise InvalidInput.at("least", "The minimum of impressions is 1 or more.")
    groups = _grouped(impressions, lambda impression: impression.vertical)
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return Verticals(
        told=tuple((name, _part(shown)) for name, shown in ordered if len(shown) >= least),
        too_few=tuple((name, len(shown)) for name, shown in ordered if len(shown) < least),
        least=least,
    )


def by_exposure(impressions: Iterable[Impression]) -> dict[int, Part]:
    """By whole days (of 24 hours) since the author's first impression: does the new wear off?

    Who came late cannot have been there long: later days are of fewer and other authors, so that a
    fall is not proven to be habit alone.
    """
    every = sorted(impressions, key=_sent)
    first: dict[str, float] = {}
    for impression in every:
        first.setdefault(impression.author, _sent(impression))

    def days(impression: Impression) -> int:
        return int((_sent(impression) - first[impression.author]) // SECONDS_OF_DAY)

    return {since: _part(shown) for since, shown in sorted(_grouped(every, days).items())}


def _sent(impression: Impression) -> float:
    return impression.at.timestamp()


def _grouped(
    impressions: Iterable[Impression], key: Callable[[Impression], Key]
) -> dict[Key, list[Impression]]:
    groups: defaultdict[Key, list[Impression]] = defaultdict(list)
    for impression in impressions:
        groups[key(impression)].append(impression)
    return groups


def _part(shown: Sequence[Impression]) -> Part:
    found = of_impressions(shown)
    clicks = int(found.clicks.sum())
    return Part(len(shown), clicks, clicks_per(found, "impressions"))
