"""Lists that a reviewer searches, narrows and sorts tell nothing of what is withheld from them."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.models import ItemState
from apps.labels.services import NewGold, import_gold
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.search.grid import read_grid, search_items
from apps.reviews.search.query import read_query
from tests.factories.accounts import browser_of
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, new_project, reviewer, suggest

pytestmark = pytest.mark.django_db


def checking() -> tuple[Project, Item]:
    """A project that hands out items of known answer beside what waits, and such an item."""
    project = new_project(check_share=0.5, review_scope="doubtful")
    (known,), (other,) = (queued_items(project, 1, external_id=name) for name in ("known", "other"))
    suggest(other, "good", reasons=["tie"])
    import_gold(project, [NewGold(item_id=known.pk, schema=current_schema(project), value="good")])
    return project, known


def found(project: Project, user: User, sort: str = "", **fields: Any) -> list[str]:
    """External ids as the list has them."""
    ids = list(search_items(project, read_query(fields), user, sort))
    by_id = Item.objects.in_bulk(ids)
    return [by_id[pk].external_id for pk in ids]


def listed(user: User, project: Project, **query: Any) -> list[str]:
    """The same over REST."""
    client = browser_of(user)
    rows = client.get(f"/api/v1/projects/{project.slug}/items/", query).json()["results"]
    return [row["external_id"] for row in rows]


def test_a_known_item_stands_as_any_other() -> None:
    project, item = checking()
    user, manager = reviewer(project), member(project, Role.MANAGER)

    rows = {row.item.pk: row for row in read_grid(project, read_query({}), user).object_list}
    assert rows[item.pk].stage == str(ItemState.Stage.NEW.label)
    for stage in ("new", "waiting"):
        assert found(project, user, stage=stage, items=[item.pk]) == ["known"]
        assert found(project, user, stage=stage, q="other") == ["other"] * (stage == "waiting")
    assert found(project, user, stage="decided") == []
    assert found(project, manager, stage="decided") == ["known"]
    assert found(project, manager, stage="waiting") == ["other"]


def test_nor_does_rest_tell_it_from_others() -> None:
    project, _ = checking()
    user, manager = reviewer(project), member(project, Role.MANAGER)

    assert sorted(listed(user, project, queued="true")) == ["known", "other"]
    assert listed(user, project, queued="false") == []
    assert listed(user, project, stage="decided") == []
    assert listed(manager, project, queued="false") == ["known"]
    client = browser_of(user)
    (row,) = client.get(f"/api/v1/projects/{project.slug}/items/", {"external_id": "known"}).json()[
        "results"
    ]
    assert (row["stage"], row["queued"], row["gold"]) == ("new", True, None)


@pytest.mark.parametrize("sort", ["stage", "-stage", "priority", "-priority"])
def test_an_audited_item_is_sorted_as_it_is_shown(sort: str) -> None:
    project = new_project()
    names = ("first", "audited", "last")
    items = [queued_items(project, 1, external_id=name)[0] for name in names]
    suggest(items[1], "good", reasons=["audit"])
    user = reviewer(project)
    debated = queued_items(project, 1, external_id="debated")[0]
    suggest(debated, "good")

    order = found(project, user, sort)
    plain = [name for name in order if name in names]
    assert plain in (list(names), list(names)[::-1])
    if "stage" in sort:
        assert order.index("debated") == (3 if sort == "stage" else 0)


def test_no_file_tells_what_is_audited() -> None:
    project = new_project()
    (item,) = queued_items(project, 1)
    suggest(item, "good")
    client = browser_of(reviewer(project))
    address = f"/api/v1/projects/{project.slug}/export/"
    assert client.get(address).status_code == 200
    suggest(item, "good", reasons=["audit"])
    assert client.get(address).status_code == 403
    client.force_login(member(project, Role.MANAGER))
    assert client.get(address).status_code == 200


def test_a_known_item_that_was_debated_stands_as_other_debated_ones() -> None:
    project, known = checking()
    suggest(known, "good", reasons=["tie"])
    user = reviewer(project)

    rows = {row.item.pk: row for row in read_grid(project, read_query({}), user).object_list}
    assert {row.stage for row in rows.values()} == {str(ItemState.Stage.SUGGESTED.label)}
    assert len({tuple(row.reasons) for row in rows.values()}) == 1
    assert all(row.suggestion and not row.tallies for row in rows.values())
    for asked in ({"stage": "suggested"}, {"suggested": "good"}, {"reason": "tie"}):
        assert sorted(found(project, user, **asked)) == ["known", "other"], asked
    assert found(project, user, stage="new") == []


def test_what_others_say_finds_nothing_before_ones_own_answer() -> None:
    project = new_project(overlap=2)
    queued_items(project, 1, external_id="asked")
    first, second = reviewer(project), reviewer(project)
    answer(claim(project, first), first, "good")

    by_others = ({"label": "good"}, {"kind": "crowd"}, {"labelled_from": "2000-01-01"})
    for asked in by_others:
        assert found(project, second, **asked) == [], asked
        assert found(project, first, **asked) == ["asked"], asked
    answer(claim(project, second), second, "good")
    assert all(found(project, second, **asked) == ["asked"] for asked in by_others)


@pytest.mark.parametrize("sort", ["", "priority", "-priority"])
def test_the_order_of_what_waits_does_not_tell_the_known(sort: str) -> None:
    project = new_project(check_share=0.5)
    names = ["first", "known", "last"]
    items = [queued_items(project, 1, external_id=name)[0] for name in names]
    gold = NewGold(item_id=items[1].pk, schema=current_schema(project), value="good")
    import_gold(project, [gold])

    assert found(project, reviewer(project), sort, stage="waiting") == names
    manager = member(project, Role.MANAGER)
    assert sorted(found(project, manager, sort, stage="waiting")) == ["first", "last"]
    assert found(project, manager, sort, stage="decided") == ["known"]


@pytest.mark.parametrize("sort", ["stage", "-stage"])
def test_where_nothing_is_hidden_stages_are_sorted_by_their_index(sort: str) -> None:
    project = new_project()
    item, _ = queued_items(project, 2)
    suggest(item, "good")
    user = reviewer(project)

    def asks_of_each() -> bool:
        ordered = str(search_items(project, read_query({}), user, sort).query).split("ORDER BY")[1]
        return "EXISTS" in ordered

    assert not asks_of_each()
    suggest(item, "good", reasons=["audit"])
    assert asks_of_each()
