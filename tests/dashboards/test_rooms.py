"""The menu: at most nine rooms, each role's own pages."""

from collections.abc import Collection

import pytest

from apps.accounts.roles import Role
from apps.dashboards.rooms import ROOMS, ShownRoom, shown_rooms

EVERY = {"adjudication", "sites"}


def rooms(
    role: Role, current: str = "overview", present: Collection[str] = EVERY
) -> dict[str, ShownRoom]:
    """What ``role`` sees, by the room's key."""
    return {
        room.key: room for room in shown_rooms("hotel", role=role, current=current, present=present)
    }


def pages(role: Role) -> list[str]:
    """The keys of all pages that ``role`` sees."""
    return [tab.key for room in rooms(role).values() for tab in room.tabs]


@pytest.mark.parametrize("role", list(Role))
def test_there_are_at_most_nine_rooms_and_no_page_stands_twice(role: Role) -> None:
    assert len(rooms(role)) <= 9
    assert len(set(pages(role))) == len(pages(role))


def test_a_manager_sees_every_page() -> None:
    assert set(pages(Role.MANAGER)) == {page.key for room in ROOMS for page in room.pages}


def test_a_reviewer_has_a_room_of_their_own_work_and_changes_nothing() -> None:
    assert list(rooms(Role.REVIEWER))[:4] == ["overview", "review", "adjudication", "mine"]
    assert {"work", "import", "webhooks", "people", "settings"}.isdisjoint(pages(Role.REVIEWER))


def test_a_viewer_decides_nothing() -> None:
    assert {"review", "adjudication", "mine", "quality"}.isdisjoint(pages(Role.VIEWER))


@pytest.mark.parametrize("room", ["adjudication", "sites"])
def test_a_room_with_nothing_in_it_is_shown_only_while_one_stands_in_it(room: str) -> None:
    assert room not in rooms(Role.MANAGER, present=())
    assert room in rooms(Role.MANAGER, current=room, present=())


def test_the_room_of_the_open_page_is_the_current_one() -> None:
    current = [key for key, room in rooms(Role.MANAGER, "prompts").items() if room.current]
    assert current == ["models"]
