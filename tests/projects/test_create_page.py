"""/projects/new/."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.projects.selectors import current_guideline, current_schema, role_in
from labelhub.core.schema import TASKS, LabelDef
from tests.factories.accounts import UserFactory
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db
URL = "/projects/new/"


def form(*rows: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """What a browser sends; ``rows`` are the label rows."""
    sent: dict[str, Any] = {
        "name": "Hotel reviews",
        "task": "multi",
        "overlap": "1",
        "label-TOTAL_FORMS": str(len(rows)),
        "label-INITIAL_FORMS": "0",
        **fields,
    }
    for position, row in enumerate(rows):
        sent |= {f"label-{position}-{key}": value for key, value in row.items()}
    return sent


@pytest.fixture
def maker(client: Client) -> Client:
    client.force_login(UserFactory.create())
    return client


def only() -> Project:
    return Project.objects.get()


def test_a_project_is_made_with_all_that_is_said_of_its_labels(maker: Client) -> None:
    food = {
        "name": "Food",
        "description": "What is eaten",
        "include": "drinks",
        "exclude": "prices",
        "examples_for": "Great soup\nCold fries\n",
        "examples_against": "Nice view",
    }
    response = maker.post(URL, form(food, {"name": ""}, {"name": "Price"}, guideline="Read."))
    project = only()
    assert response["Location"] == f"/p/{project.slug}/"
    assert (project.slug, project.name) == ("hotel-reviews", "Hotel reviews")
    schema = current_schema(project).parsed
    assert schema.names == ("Food", "Price")
    assert schema.labels[0].to_json() == {
        **food,
        "examples_for": ["Great soup", "Cold fries"],
        "examples_against": ["Nice view"],
    }
    guideline = current_guideline(project)
    assert guideline is not None
    assert project.created_by is not None
    assert role_in(project.created_by, project) is Role.MANAGER


def test_a_scale_keeps_its_points_and_other_tasks_drop_them(maker: Client) -> None:
    rows = [{"name": "low", "point": "-1"}, {"name": "high", "point": "2.5"}]
    maker.post(URL, form(*rows, task="ordinal"))
    assert [label.point for label in current_schema(only()).parsed.labels] == [-1, 2.5]
    maker.post(URL, form(*rows, task="single", slug="second"))
    labels = current_schema(Project.objects.get(slug="second")).parsed.labels
    assert [label.point for label in labels] == [None, None]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (form({"name": "a"}, name=""), "This field is required"),
        (form({"name": "a"}, name="日本"), "Give a short name"),
        (form({"name": "a"}, slug="taken"), "already a project"),
        (form({"name": "a"}, slug="no good"), "valid “slug”"),
        (form({"name": "a"}, overlap="0"), "greater than or equal to 1"),
        (form({"name": "a"}, task="odd"), "Select a valid choice"),
        (form(), "needs at least 1"),
        (form({"name": "a"}, task="single"), "needs at least 2"),
        (form({"name": "a"}, {"name": "A"}), "given twice"),
        (form({"name": "", "description": "lost"}), "Give the label a name"),
        (form({"name": "a"}, task="text"), "none of its own"),
        (form({"name": "a", "point": "one"}), "Enter a number"),
    ],
)
def test_a_refusal_stands_on_the_page_with_what_was_typed(
    maker: Client, sent: dict[str, Any], words: str
) -> None:
    ProjectFactory.create(slug="taken")
    response = maker.post(URL, sent)
    assert response.status_code == 422
    assert words in response.content.decode().replace("&#x27;", "'")
    assert Project.objects.count() == 1


def test_a_type_with_fixed_labels_asks_for_none(
    maker: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    class YesNo(type(TASKS["single"])):  # type: ignore[misc]  # the class of an instance
        name = "yes_no"
        title = summary = example = "Yes or no"

        def check_labels(self, labels: tuple[LabelDef, ...]) -> tuple[LabelDef, ...]:
            return LabelDef("yes"), LabelDef("no")

    monkeypatch.setitem(TASKS, "yes_no", YesNo())
    page = maker.get(URL, {"start": "labels"})
    assert 'data-unlabelled="text per_item yes_no"' in page.content.decode()
    assert "One name per line; details can follow later." in page.content.decode()
    maker.post(URL, form(task="yes_no"))
    assert current_schema(only()).parsed.names == ("yes", "no")


def test_tampered_counters_are_refused(maker: Client) -> None:
    response = maker.post(URL, {"name": "x", "task": "multi", "overlap": "1"})
    assert response.status_code == 422
    assert not Project.objects.exists()


def test_what_is_typed_is_escaped(maker: Client) -> None:
    page = maker.post(URL, form({"name": "<script>alert(1)</script>,"})).content.decode()
    assert "<script>alert" not in page
