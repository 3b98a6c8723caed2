"""Appendix A.1: what is an impression, what is a click, whatever order events come in."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.echo.experiments.impressions import Click, ShownContent, count
from labelhub.core.errors import InvalidInput

START = datetime(2026, 3, 2, tzinfo=UTC)


def shown(
    event: str, content: str, seconds: float = 0, author: str = "ann", unit: str = ""
) -> ShownContent:
    """Content that followed a message sent after so many seconds."""
    time = START + timedelta(seconds=seconds)
    return ShownContent(event, content, author, unit or author, "tea", time)


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
    events: list[ShownContent | Click], data: st.DataObject
) -> None:
    again: list[ShownContent | Click] = (
        data.draw(st.lists(st.sampled_from(events), max_size=10)) if events else []
    )
    mixed = events + again
    data.draw(st.randoms()).shuffle(mixed)
    assert count(mixed) == count(events)


@given(EVENTS)
def test_no_click_is_lost(events: list[ShownContent | Click]) -> None:
    found = count(events)
    clicks = {event.id for event in events if isinstance(event, Click)}
    assert sum(i.clicks for i in found.impressions) + found.unmatched == len(clicks)
    contents = [content for i in found.impressions for content in i.contents]
    assert len(contents) == len(set(contents))


def test_unusable_times_are_refused() -> None:
    naive = ShownContent("1", "a", "ann", "ann", "", datetime(2026, 3, 2))  # noqa: DTZ001
    with pytest.raises(InvalidInput, match="zone"):
        count([naive, shown("2", "b")])
