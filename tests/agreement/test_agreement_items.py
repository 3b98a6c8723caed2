"""Every number of the agreement page leads to its items."""

import re
from typing import Any
from uuid import uuid4

import pytest

from apps.accounts.roles import Role
from apps.labels.models import Annotator, ItemState
from apps.labels.services import NewGold, import_gold
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from tests.agreement.page_help import page
from tests.agreement.report_help import six_moods
from tests.cases import all_cases
from tests.factories.agreement import decide
from tests.factories.labels import open_item, queued_items
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory, member_browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Of six items the truth is good, good, bad, bad, good, bad."""
    return six_moods()


def places(answer: Any, project: Project) -> list[int]:
    """Which of the project's items are listed, counted from 1, in the order shown."""
    order = list(project.items.order_by("pk").values_list("pk", flat=True))
    found = re.findall(r'<a href="[^"]*/items/(\d+)/"', answer.content.decode())
    return [order.index(int(key)) + 1 for key in found]


@all_cases(
    ("query", "expected"),
    [
        # The crowd says good, a tie, bad, a tie, bad, good: a tie is in both cells by a half.
        ({"of": "crowd", "by": "author", "about": "good", "cell": "errors"}, [2, 4, 5, 6]),
        ({"of": "crowd", "by": "author", "about": "good", "cell": "wrong"}, [4, 6]),
        ({"of": "crowd", "by": "author", "about": "good", "cell": "missed"}, [2, 5]),
        ({"of": "crowd", "by": "gold", "about": "good", "cell": "right"}, [1, 2]),
        ({"of": "crowd", "by": "gold", "said": "good", "meant": "bad"}, [4, 6]),
        ({"of": "llm", "by": "gold", "about": "bad", "cell": "errors"}, [6]),
        # Those on which most pairs of labels differ come first.
        ({"of": "llm", "other": "crowd"}, [5, 2, 4]),
        ({"of": "crowd", "other": "crowd"}, [2, 4]),
        ({"of": "llm", "other": "llm"}, []),
        # The expert is tied on item 4, the crowd on 2 and 4: less right than who is not.
        ({"of": "llm", "other": "expert", "by": "author"}, [4]),
        ({"of": "expert", "other": "crowd", "by": "author"}, [2, 5, 6]),
        # A part of the labels keeps what is true.
        (
            {"of": "crowd", "by": "author", "about": "good", "cell": "errors", "kind": "crowd"},
            [2, 4, 5, 6],
        ),
        ({"of": "crowd", "by": "gold", "about": "good", "cell": "errors", "kind": "llm"}, []),
    ],
)
def test_a_number_has_these_items_behind_it(
    project: Project, query: dict[str, str], expected: list[int]
) -> None:
    assert places(page(project, "items/", **query), project) == expected


@all_cases(
    "query",
    [
        {"of": "robot", "other": "crowd"},
        {"of": "crowd", "other": "robot"},
        {"of": "crowd"},
        {"of": "crowd", "by": "nobody", "about": "good", "cell": "errors"},
        {"of": "crowd", "by": "gold", "about": "good", "cell": "sideways"},
        {"of": "crowd", "by": "gold", "about": "no such label", "cell": "errors"},
        {"of": "crowd", "by": "gold", "said": "good", "meant": "neither"},
        {"of": "crowd", "other": "llm", "since": "never"},
    ],
)
def test_what_means_nothing_is_refused(project: Project, query: dict[str, str]) -> None:
    assert page(project, "items/", **query).status_code == 422


def test_an_item_is_named_by_its_text_and_its_id_is_a_title(project: Project) -> None:
    name = "0f3a" * 8
    second = project.items.order_by("pk")[1]
    project.items.filter(pk=second.pk).update(external_id=name)
    html = page(project, "items/", of="crowd", other="crowd").content.decode()

    assert f'title="{name}"' in html
    assert name not in re.sub(r'<span class="visually-hidden">.*?</span>|<[^>]*>', "", html)


def test_items_to_audit_blind_are_not_listed_for_who_audits_them(project: Project) -> None:
    last = project.items.order_by("pk")[5]
    ItemState.objects.filter(item=last).update(reasons=["audit"])
    query = {"of": "llm", "by": "gold", "about": "bad", "cell": "errors"}

    assert places(page(project, "items/", Role.REVIEWER, **query), project) == []
    assert places(page(project, "items/", Role.VIEWER, **query), project) == [6]
    # Nor by what people say of them.
    of_people = {"of": "crowd", "by": "gold", "about": "good", "cell": "wrong"}
    assert 6 not in places(page(project, "items/", Role.REVIEWER, **of_people), project)
    assert 6 in places(page(project, "items/", Role.VIEWER, **of_people), project)


def test_nor_are_items_that_a_reviewer_is_yet_to_be_asked_about() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    ledger(made, {"llm:m": ["bad"], "crowd:a": ["good"], "crowd:b": ["good"]})
    query = {"of": "llm", "other": "crowd"}

    assert places(page(made, "items/", Role.VIEWER, **query), made) == [1]
    assert places(page(made, "items/", Role.REVIEWER, **query), made) == []


def test_nor_what_an_import_says_that_a_machine_decided() -> None:
    made = ProjectFactory.create(definition=MOODS, overlap=20)
    (item,), _ = ledger(made, {"llm:m": ["bad"], "crowd:a": ["good"]})
    machine = Annotator.objects.get(project=made, kind="llm")
    schema = current_schema(made)
    decided = NewGold(item_id=item.pk, schema=schema, value="bad", decided_by=machine, uid=uuid4())
    import_gold(made, [decided])
    ItemState.objects.filter(item=item).update(reasons=["audit"])
    query = {"of": "crowd", "by": "gold", "about": "good", "cell": "wrong"}

    assert places(page(made, "items/", Role.VIEWER, **query), made) == [1]
    assert places(page(made, "items/", Role.REVIEWER, **query), made) == []


def test_sets_are_told_label_by_label() -> None:
    made = ProjectFactory.create(
        definition={"task": "multi", "question": "", "labels": ["a", "b"]}, overlap=20
    )
    items, _ = ledger(
        made,
        {"crowd:x": [["a"], ["a", "b"], []], "crowd:y": [["a"], ["b"], []]},
    )
    for item, value in zip(items, [["b"], ["a", "b"], ["a"]], strict=True):
        decide(item, value)
    query = {"of": "crowd", "by": "gold", "about": "a"}

    # One of two sets with a label is a tie: it is given by a half.
    assert places(page(made, "items/", **query, cell="wrong"), made) == [1]
    assert places(page(made, "items/", **query, cell="right"), made) == [2]
    assert places(page(made, "items/", **query, cell="missed"), made) == [2, 3]
    assert page(made, "items/", of="crowd", by="gold", about="c", cell="wrong").status_code == 422


def test_options_of_items_and_free_texts_are_told_apart_too() -> None:
    own = ProjectFactory.create(definition={"task": "per_item", "question": ""}, overlap=20)
    items = [open_item(own, options=["red", "blue"]), open_item(own, options=["cat", "dog"])]
    ledger(own, {"crowd:a": ["red", "cat"], "expert:b": ["red", "dog"]}, items)
    html = page(own, "items/", of="crowd", other="expert").content.decode()
    assert "cat" in html
    assert "dog" in html
    assert "red" not in re.findall(r"<dd>(.*?)</dd>", html)

    free = ProjectFactory.create(definition={"task": "text", "question": ""}, overlap=20)
    ledger(free, {"crowd:a": ["yes", "no"], "expert:b": ["Yes", "maybe"]})
    assert places(page(free, "items/", of="crowd", other="expert"), free) == [2]


def test_hostile_texts_and_labels_stay_text() -> None:
    evil = '"><script>alert(1)</script>'
    made = ProjectFactory.create(
        definition={"task": "single", "question": "", "labels": [evil, "b"]}, overlap=20
    )
    items = queued_items(made, 3, text=evil)
    ledger(made, {"crowd:a": [evil, "b", "b"], "author:w": ["b", "b", evil]}, items)

    query = {"of": "crowd", "by": "author", "about": evil, "cell": "errors"}
    for address, asked in (("", {}), ("items/", query), ("report.html", {})):
        answer = page(made, address, **asked)
        assert answer.status_code == 200
        assert evil not in answer.content.decode()


def test_the_queries_do_not_grow_with_the_items(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    client = member_browser(project, Role.VIEWER)
    with django_assert_max_num_queries(22):
        client.get("/p/moods/agreement/items/?of=llm&other=crowd")
    ledger(ProjectFactory.create(definition=MOODS), {"crowd:x": ["good"] * 30})
    ledger(project, {"llm:m": ["good"] * 30, "crowd:y": ["bad"] * 30})
    with django_assert_max_num_queries(22):
        html = client.get("/p/moods/agreement/items/?of=llm&other=crowd").content.decode()
    assert "33 items" in html
