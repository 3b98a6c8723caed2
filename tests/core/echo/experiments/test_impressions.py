"""Appendix A.1: what is an impression, what is a click, whatever order events come in."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.experiments.impressions import Click, Shown, count
from labelhub.core.errors import InvalidInput

START = datetime(2026, 3, 2, tzinfo=UTC)


def shown(
    event: str, content: str, seconds: float = 0, author: str = "ann", unit: str = ""
) -> Shown:
    """Content that followed a message sent after so many seconds."""
    at = START + timedelta(seconds=seconds)
    return Shown(event, content, author, unit or author, "tea", at)


DISPLAYS = st.builds(
    shown,
    st.sampled_from([f"d{i}" for i in range(12)]),
    st.sampled_from("abcdef"),
    st.sampled_from([0, 3, 4.9, 5, 9, 60]),
    st.sampled_from(["ann", "bo"]),
)
CLICKS = st.builds(Click, st.sampled_from([f"c{i}" for i in range(8)]), st.sampled_from("abcdefg"))
EVENTS = st.lists(st.one_of(DISPLAYS, CLICKS), max_size=25)


@given(EVENTS, st.data())
def test_order_and_repetition_change_nothing(
    events: list[Shown | Click], data: st.DataObject
) -> None:
    again: list[Shown | Click] = (
        data.draw(st.lists(st.sampled_from(events), max_size=10)) if events else []
    )
    mixed = events + again
    data.draw(st.randoms()).shuffle(mixed)
    assert count(mixed) == count(events)


@given(EVENTS)
def test_no_click_is_lost(events: list[Shown | Click]) -> None:
    found = count(events)
    clicks = {event.id for event in events if isinstance(event, Click)}
    assert sum(i.clicks for i in found.impressions) + found.unmatched == len(clicks)
    contents = [content for i in found.impressions for content in i.contents]
    assert len(contents) == len(set(contents))


def test_a_reload_is_no_impression() -> None:
    found = count([shown("1", "a"), shown("2", "a", 4000), shown("3", "b", 90)])
    assert [i.contents for i in found.impressions] == [("a",), ("b",)]
    assert found.impressions[0].at == START


def test_every_click_counts_and_the_same_event_once() -> None:
    found = count([shown("1", "a"), Click("x", "a"), Click("y", "a"), Click("x", "a")])
    assert [i.clicks for i in found.impressions] == [2]


def test_quick_messages_are_one_impression_however_many() -> None:
    row = [shown(str(i), f"c{i}", 4 * i) for i in range(30)]
    found = count([*row, shown("later", "z", 4 * 29 + 5), Click("x", "c29")])
    assert [len(i.contents) for i in found.impressions] == [30, 1]
    assert [i.clicks for i in found.impressions] == [1, 0]


def test_others_and_other_units_are_not_merged() -> None:
    events = [
        shown("1", "a"),
        shown("2", "b", 1, author="bo"),
        shown("3", "c", 2, unit="window 2"),
    ]
    assert len(count(events).impressions) == 3
    assert len(count([shown("1", "a"), shown("2", "b")], merge_within=0).impressions) == 2


def test_a_click_may_come_before_its_display() -> None:
    click = Click("x", "a")
    assert count([click]).unmatched == 1
    assert count([click, shown("1", "a")]).unmatched == 0


def test_one_id_of_two_events_is_told() -> None:
    displays = [shown("1", "a"), shown("1", "b", 60)]
    events: list[Shown | Click] = [*displays, Click("x", "a"), Click("x", "b")]
    found = count(events)
    assert found.conflicts == 2
    assert [(i.contents, i.clicks) for i in found.impressions] == [(("a",), 1)]


def test_messages_an_hour_apart_are_not_merged_when_clocks_are_put_back() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    times = [datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold) for fold in (0, 1)]
    events = [Shown(str(i), str(i), "ann", "ann", "", at) for i, at in enumerate(times)]
    assert len(count(events).impressions) == 2


def test_unusable_times_are_refused() -> None:
    naive = Shown("1", "a", "ann", "ann", "", datetime(2026, 3, 2))  # noqa: DTZ001
    with pytest.raises(InvalidInput, match="zone"):
        count([naive, shown("2", "b")])
    for seconds in (-1.0, float("nan")):
        with pytest.raises(InvalidInput):
            count([], merge_within=seconds)
