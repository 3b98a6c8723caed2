"""Click-through by day, weekday, vertical and time since first exposure."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from labelhub.core.echo.experiments.breakdowns import (
    by_day,
    by_exposure,
    by_vertical,
    by_weekday,
)
from labelhub.core.echo.experiments.impressions import Impression
from labelhub.core.errors import InvalidInput

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)


def shown(hours: float, author: str = "ann", clicks: int = 0, vertical: str = "tea") -> Impression:
    """An impression so many hours after Monday noon."""
    at = MONDAY + timedelta(hours=hours)
    return Impression((f"{author} {hours}",), author, author, vertical, at, clicks)


def test_days_alone_and_cumulated() -> None:
    found = by_day([shown(48, "bo", 1), shown(0, clicks=2), shown(1), shown(24, "cy")], UTC)

    assert [day.day for day in found] == [date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)]
    assert [(day.alone.impressions, day.alone.clicks) for day in found] == [(2, 2), (1, 0), (1, 1)]
    assert [(d.cumulated.impressions, d.cumulated.clicks) for d in found] == [
        (2, 2),
        (3, 2),
        (4, 3),
    ]
    assert found[2].cumulated.click_through["value"] == pytest.approx(3 / 4)


def test_weekdays_are_those_of_the_time_zone() -> None:
    late = [shown(11.5), shown(11.6, "bo", 1)]

    assert [part.impressions for part in by_weekday(late, UTC)] == [2, 0, 0, 0, 0, 0, 0]
    tokyo = by_weekday(late, ZoneInfo("Asia/Tokyo"))
    assert [part.impressions for part in tokyo] == [0, 2, 0, 0, 0, 0, 0]
    assert tokyo[0].click_through == {"value": None, "reason": "nothing was shown"}


def test_verticals_below_the_minimum_are_listed_without_a_rate() -> None:
    many = [shown(i, f"a{i}", vertical="tea", clicks=i % 10 == 0) for i in range(180)]
    few = [shown(i, f"b{i}", vertical="hats", clicks=1) for i in range(179)]
    found = by_vertical(many + few)

    assert [(name, part.impressions, part.clicks) for name, part in found.told] == [
        ("tea", 180, 18)
    ]
    assert found.too_few == (("hats", 179),)
    assert found.least == 180
    assert [name for name, _ in by_vertical(many + few, least=1).told] == ["tea", "hats"]
    with pytest.raises(InvalidInput):
        by_vertical([], least=0)


def test_exposure_counts_from_each_authors_first_impression() -> None:
    found = by_exposure(
        [shown(30, clicks=1), shown(0), shown(23.9), shown(100, "bo", 3), shown(124, "bo")]
    )

    assert {day: (part.impressions, part.clicks) for day, part in found.items()} == {
        0: (3, 3),
        1: (2, 1),
    }


def test_of_nothing_nothing_is_told() -> None:
    assert by_day([], UTC) == []
    assert by_exposure([]) == {}
    assert by_vertical([]).told == ()
    assert len(by_weekday([], UTC)) == 7
