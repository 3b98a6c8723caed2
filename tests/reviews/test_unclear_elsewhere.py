"""What cannot be told, in every place that lists, counts or acts upon where items stand."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.labels.models import ItemState, Label
from apps.projects.models import Item, Project
from apps.reviews.bulk.plan import preview
from apps.reviews.quality.requeue import requeueable_labels
from apps.reviews.search.grid import read_grid, search_items
from apps.reviews.search.query import read_query
from tests.factories.accounts import browser_of
from tests.factories.bulk import done, planned
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import expert, new_project, reviewer, suggest
from tests.reviews.test_adjudication import in_conflict
from tests.reviews.test_unclear import cannot_tell, stands, unclear_item

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}
Stage = ItemState.Stage


@pytest.fixture
def item(project: Project, judge: User) -> Item:
    """One of which an expert found that nobody can tell."""
    return unclear_item(project, judge)


def page(user: User, project: Project, path: str = "") -> str:
    response = browser_of(user).get(f"/p/{project.slug}/{path}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def listed(user: User, project: Project, **query: Any) -> list[dict[str, Any]]:
    rows = browser_of(user).get(f"/api/v1/projects/{project.slug}/items/", query).json()["results"]
    return list(rows)


class TestLists:
    def test_it_is_found_by_its_stage(self, project: Project, item: Item) -> None:
        manager = member(project, Role.MANAGER)
        queued_items(project, 1)

        assert list(search_items(project, read_query({"stage": "unclear"}), manager)) == [item.pk]
        assert list(search_items(project, read_query({"stage": "conflict"}), manager)) == []
        (row,) = read_grid(project, read_query({"stage": "unclear"}), manager).object_list
        assert row.stage == "Unsure"
        html = page(manager, project, "items/?stage=unclear")
        assert '<option value="unclear" selected>Unsure</option>' in html

    def test_to_whoever_has_yet_to_answer_it_blind_it_stands_as_new(self) -> None:
        project = new_project(overlap=2, blind_share=1.0)
        item = in_conflict(project)
        suggest(item, "good")
        cannot_tell(item, expert(project))
        user = reviewer(project)

        for stage, ids in (("unclear", []), ("new", [item.pk])):
            assert list(search_items(project, read_query({"stage": stage}), user)) == ids
            assert [row["id"] for row in listed(user, project, stage=stage)] == ids
        (row,) = listed(user, project, queued="true")
        assert (row["stage"], row["queued"], row["labels_by_people"]) == ("new", True, 0)
        assert listed(user, project, queued="false") == []
        (shown,) = read_grid(project, read_query({}), user, sort="stage").object_list
        assert shown.stage == str(Stage.NEW.label)


class TestWork:
    @pytest.mark.parametrize(
        ("action", "options"),
        [
            ("label", {"value": "good"}),
            ("assign", {"share": False}),
            ("audience", {"kind": "crowd"}),
        ],
    )
    def test_many_at_once_pass_it_over(
        self, project: Project, item: Item, action: str, options: dict[str, Any]
    ) -> None:
        boss = member(project, Role.MANAGER, ReviewerKind.EXPERT)
        if action == "assign":
            options = options | {"users": [reviewer(project).pk]}

        seen = preview(planned(project, boss, action, query={"items": [item.pk]}, **options))

        assert (seen.changing, seen.passed) == (0, {"unclear": 1})
        assert seen.reasons == [(1, "are settled as unsure by an expert")]

    def test_many_at_once_go_back_to_the_queue(self, project: Project, item: Item) -> None:
        boss = member(project, Role.MANAGER, ReviewerKind.EXPERT)

        job = done(project, boss, "return", query={"stage": "unclear"}, reason="It says more now.")

        assert job.done == 1
        assert stands(item) == (Stage.NEW, True, False)

    def test_labels_of_those_who_disagreed_stay(
        self, project: Project, item: Item, judge: User
    ) -> None:
        others = Label.objects.current().filter(item=item).exclude(annotator__user=judge)
        for label in others.select_related("annotator__user"):
            assert label.annotator.user is not None
            assert not requeueable_labels(project, label.annotator.user).exists()
        assert requeueable_labels(project, judge).get().item == item
