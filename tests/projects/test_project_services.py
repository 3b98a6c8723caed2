"""Making and changing projects, their teams and the versions of their schemas."""

from typing import Any

import pytest

from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Project
from apps.projects.selectors import current_guideline, reviewer_kind, role_in
from apps.projects.services import (
    SchemaInUse,
    change_project,
    create_project,
    remove_member,
    set_guideline,
    set_member,
    set_schema,
)
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import Schema, parse_schema, schema_from_names
from tests.factories.accounts import UserFactory
from tests.factories.projects import ASPECTS, ItemFactory, ProjectFactory, member

pytestmark = pytest.mark.django_db
MOODS = schema_from_names("single", ["good", "bad"])


def make(**fields: Any) -> Project:
    return create_project(
        **{"actor": None, "slug": "hotels", "name": "Hotels", "schema": MOODS, **fields}
    )


def test_its_maker_manages_it_as_an_expert() -> None:
    user = UserFactory.create()
    project = make(actor=user, guideline=" Read.\r\nLabel. ", overlap=2)
    assert role_in(user, project) is Role.MANAGER
    assert reviewer_kind(user, project) is ReviewerKind.EXPERT
    schema = project.schemas.get()
    assert (schema.version, schema.parsed) == (1, MOODS)
    guideline = current_guideline(project)
    assert guideline is not None
    assert guideline.text == "Read.\nLabel."


def test_of_a_new_project_some_items_are_shown_without_a_suggestion() -> None:
    assert make().blind_share == 0.1
    assert make(slug="other", blind_share=0).blind_share == 0


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"slug": "taken"}, "slug"),
        ({"slug": "two words"}, "slug"),
        ({"slug": ""}, "slug"),
        ({"slug": "x" * 61}, "slug"),
        ({"name": " "}, "name"),
        ({"overlap": 0}, "overlap"),
        ({"overlap": 21}, "overlap"),
        ({"blind_share": 1.5}, "blind_share"),
    ],
)
def test_a_refusal_names_the_field_and_leaves_nothing(fields: dict[str, Any], field: str) -> None:
    ProjectFactory.create(slug="taken")
    with pytest.raises(InvalidInput, match=field):
        make(**fields)
    assert Project.objects.count() == 1


def test_a_guideline_has_versions_and_the_same_text_makes_none() -> None:
    project = make()
    first = set_guideline(project=project, text="One", actor=None)
    assert set_guideline(project=project, text="One \n", actor=None) == first
    assert set_guideline(project=project, text="Two", actor=None).version == 2


def test_a_member_gets_another_role() -> None:
    project = ProjectFactory.create()
    user = member(project, Role.VIEWER)
    set_member(project=project, user=user, role="reviewer", kind="expert", actor=None)
    assert role_in(user, project) is Role.REVIEWER
    assert project.memberships.count() == 1


@pytest.mark.parametrize(("role", "kind"), [("owner", "crowd"), ("viewer", "robot")])
def test_unknown_roles_and_kinds_are_refused(role: str, kind: str) -> None:
    project = ProjectFactory.create()
    with pytest.raises(InvalidInput):
        set_member(project=project, user=UserFactory.create(), role=role, kind=kind, actor=None)


def test_the_last_manager_stays() -> None:
    project = ProjectFactory.create()
    first = member(project, Role.MANAGER)
    with pytest.raises(InvalidInput, match="needs a manager"):
        remove_member(project=project, user=first, actor=first)
    with pytest.raises(InvalidInput, match="needs a manager"):
        set_member(project=project, user=first, role="viewer", kind="crowd", actor=first)
    member(project, Role.MANAGER)
    remove_member(project=project, user=first, actor=first)
    assert role_in(first, project) is None


def test_a_stranger_cannot_be_removed() -> None:
    with pytest.raises(NotFound):
        remove_member(project=ProjectFactory.create(), user=UserFactory.create(), actor=None)


def test_several_changes_are_one() -> None:
    project = make()
    with pytest.raises(InvalidInput):
        change_project(project=project, actor=None, guideline="New", name="")
    assert current_guideline(project) is None


def schema(*names: str, task: str = "multi", **first: Any) -> Schema:
    labels: list[dict[str, Any]] = [{"name": name} for name in names]
    if first:
        labels[0].update(first)
    return parse_schema({"task": task, "labels": labels})


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(definition=ASPECTS)


def test_a_change_is_a_new_version_and_the_old_one_stays(project: Project) -> None:
    new = set_schema(project=project, schema=schema("Food"), actor=None)
    assert new.version == 2
    assert project.schemas.get(version=1).parsed.names == ("Food", "Service")


def test_a_colour_is_stored_without_a_new_version(project: Project) -> None:
    ItemFactory.create(project=project)
    asked = project.schemas.get().asked
    painted = set_schema(
        project=project, schema=schema("Food", "Service", color="pink"), actor=None
    )
    assert painted.version == 1
    assert painted.asked == asked
    assert "pink" in project.schemas.get().parsed.colors


def test_the_same_schema_makes_no_version(project: Project) -> None:
    assert set_schema(project=project, schema=schema("Food", "Service"), actor=None).version == 1


@pytest.mark.parametrize(
    "wanted",
    [
        schema("Food", "Service", "Price"),
        schema("Price", "Food", "Service"),
        schema("Food", "Service", description="What is eaten"),
        schema("Food", "Service", examples_for=["Great soup"]),
    ],
)
def test_with_items_labels_are_added_and_described(project: Project, wanted: Schema) -> None:
    ItemFactory.create(project=project)
    assert set_schema(project=project, schema=wanted, actor=None).version == 2


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (schema("Food"), "'Service' is missing"),
        (schema("Meals", "Service"), "'Food' is missing"),
        (schema("food", "Service"), "'Food' is missing"),
        (schema("Service", "Food"), "keep their order"),
        (schema("Food", "Service", task="single"), "its task stays 'multi'"),
    ],
)
def test_with_items_nothing_is_taken_away(project: Project, wanted: Schema, words: str) -> None:
    ItemFactory.create(project=project)
    with pytest.raises(SchemaInUse, match=words):
        set_schema(project=project, schema=wanted, actor=None)
    assert project.schemas.count() == 1


def test_with_items_scale_points_stay() -> None:
    scale = {"task": "ordinal", "labels": [{"name": "low"}, {"name": "high"}]}
    project = ProjectFactory.create(definition=scale)
    ItemFactory.create(project=project)
    moved = schema("low", "high", task="ordinal")
    longer = schema("lowest", "low", "high", task="ordinal")
    assert set_schema(project=project, schema=moved, actor=None).version == 1
    with pytest.raises(SchemaInUse, match="stays 1"):
        set_schema(project=project, schema=longer, actor=None)
