"""The pages of a project: each role sees its own, under headings that open and shut."""

import pytest

from apps.common.navigation import GROUPS, ShownGroup, shown_groups

KEYS = [page.key for group in GROUPS for page in group.pages]


def groups(role: str, **changes: object) -> dict[str, ShownGroup]:
    """What ``role`` sees, by the group's key."""
    options = {"expert": True, "current": "overview", "cookies": {}, **changes}
    return {group.key: group for group in shown_groups("hotel", role=role, **options)}  # type: ignore[arg-type]


def pages(role: str, **changes: object) -> list[str]:
    """The keys of all pages that ``role`` sees."""
    return [link["key"] for group in groups(role, **changes).values() for link in group.links]


def test_no_page_stands_there_twice() -> None:
    assert len(set(KEYS)) == len(KEYS)


def test_a_manager_sees_every_page_and_every_group_open() -> None:
    assert pages("manager") == KEYS
    assert all(group.open for group in groups("manager").values())


def test_a_reviewer_finds_what_deciding_takes_and_the_rest_folded() -> None:
    assert [key for key, group in groups("reviewer").items() if group.open] == ["", "labels"]
    assert {"setup", "work", "webhooks", "people", "settings"}.isdisjoint(pages("reviewer"))


def test_a_viewer_decides_nothing() -> None:
    assert {"review", "adjudication", "mine", "quality"}.isdisjoint(pages("viewer"))


def test_adjudication_is_for_experts() -> None:
    assert "adjudication" in pages("reviewer", expert=True)
    assert "adjudication" not in pages("reviewer", expert=False)


@pytest.mark.parametrize("role", ["manager", "reviewer", "viewer"])
def test_the_group_of_the_page_that_is_open_is_open(role: str) -> None:
    shut = {"labelhub_nav_annotators": "shut"}
    assert groups(role, current="prompts", cookies=shut)["annotators"].open


def test_a_group_stays_as_this_browser_left_it() -> None:
    assert groups("reviewer", cookies={"labelhub_nav_measures": "open"})["measures"].open
    assert not groups("manager", cookies={"labelhub_nav_measures": "shut"})["measures"].open


def test_what_else_a_cookie_says_counts_for_nothing() -> None:
    assert groups("manager", cookies={"labelhub_nav_measures": "<script>"})["measures"].open


def test_a_group_without_a_page_for_somebody_is_not_there() -> None:
    assert all(group.links for group in groups("viewer").values())
