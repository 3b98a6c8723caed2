"""An experiment looked at once a day: always the same looks from the same log.

A look holds what had happened by the end of its day (a click counts from when it came), so that a
look once taken is not taken back by what comes later.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

import numpy as np
from numpy.typing import NDArray

from apps.echo.reporting.records import Moment, Records
from labelhub.core.echo.experiments.clusters import ClusteredRate, clusters, rate_of
from labelhub.core.echo.experiments.looks import Look, look_at, plan

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class DayLook:
    """What all data up to the end of a day show."""

    day: date
    look: Look


def daily_looks(records: Records, zone: tzinfo) -> Mapping[str, Sequence[DayLook]]:
    """For each arm but the control, which comes last, a look per day on which anything happened.

    The 5 % of false alarms are shared among the arms; clicks are per eligible message.
    """
    *arms, control = records.arms
    if not arms:
        return {}
    how = plan(per="eligible", comparisons=len(arms))
    found: dict[str, list[DayLook]] = {arm: [] for arm in arms}
    for day, rates in _rates_by_day(records, zone):
        for arm, looks in found.items():
            before = looks[-1].look if looks else None
            looks.append(DayLook(day, look_at(how, rates[arm], rates[control], before)))
    return found


def _rates_by_day(
    records: Records, zone: tzinfo
) -> Iterable[tuple[date, Mapping[str, ClusteredRate | None]]]:
    """Clicks per eligible message of each arm, from the start to the end of each day."""
    places = {unit.unit: at for at, unit in enumerate(records.units)}
    within = {
        arm: np.array([unit.arm == arm for unit in records.units], bool) for arm in records.arms
    }
    eligible, clicks = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
    messages_of = _by_day(records.eligible, places, zone)
    clicks_of = _by_day(records.clicks, places, zone)
    for day in sorted({*messages_of, *clicks_of}):
        eligible += _counts(messages_of[day], len(places))
        clicks += _counts(clicks_of[day], len(places))
        yield (
            day,
            {arm: rate_of(clusters(clicks[own], eligible[own])) for arm, own in within.items()},
        )


def _by_day(
    moments: Iterable[Moment], places: Mapping[str, int], zone: tzinfo
) -> defaultdict[date, list[int]]:
    found: defaultdict[date, list[int]] = defaultdict(list)
    for moment in moments:
        found[moment.at.astimezone(zone).date()].append(places[moment.unit])
    return found


def _counts(places: Sequence[int], size: int) -> Ints:
    return np.bincount(np.array(places, np.int64), minlength=size)
