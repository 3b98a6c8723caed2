"""Versions of the label schema, and what may change once there are items."""

from typing import Any

import pytest

from apps.projects.models import Project
from apps.projects.services import SchemaInUse, set_schema
from labelhub.core.schema import Schema, parse_schema
from tests.factories.projects import ASPECTS, ItemFactory, ProjectFactory

pytestmark = pytest.mark.django_db


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
