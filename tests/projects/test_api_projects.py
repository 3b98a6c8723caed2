"""REST: projects/ and projects/{slug}/."""

from typing import Any

import pytest

from apps.accounts.roles import Role
from apps.projects.models import Project
from tests.cases import all_cases
from tests.common.openapi import assert_matches_schema
from tests.factories.accounts import UserFactory, api_of
from tests.factories.projects import (
    GuidelineFactory,
    ItemFactory,
    LabelSchemaFactory,
    ProjectFactory,
    member,
)

pytestmark = pytest.mark.django_db
URL = "/api/v1/projects/"
ONE = "/api/v1/projects/{slug}/"


def test_the_list_holds_ones_own_projects_with_their_newest_schema() -> None:
    project = ProjectFactory.create(name="Mine")
    ProjectFactory.create(name="Hidden")
    LabelSchemaFactory.create(project=project, version=2)
    GuidelineFactory.create(project=project, text="Read")
    response = api_of(member(project, Role.VIEWER)).get(URL)
    assert_matches_schema(response, "GET", URL)
    body = response.json()
    assert (body["count"], body["next"], body["previous"]) == (1, None, None)
    shown = body["results"][0]
    assert (shown["name"], shown["role"], shown["task"]) == ("Mine", "viewer", "single")
    assert (shown["schema_version"], shown["guideline"]) == (2, "Read")
    assert [label["name"] for label in shown["schema"]["labels"]] == ["good", "bad"]


def test_a_project_is_made_and_its_maker_manages_it() -> None:
    user = UserFactory.create()
    sent = {
        "slug": "hotels",
        "schema": {"task": "multi", "labels": ["Food", {"name": "Price", "include": "rates"}]},
        "guideline": "Read",
        "overlap": 2,
    }
    response = api_of(user).post(URL, sent)
    assert response.status_code == 201, response.content
    assert_matches_schema(response, "POST", URL)
    body = response.json()
    assert (body["name"], body["role"], body["overlap"]) == ("hotels", "manager", 2)
    assert body["schema"]["labels"][1] == {"name": "Price", "include": "rates"}


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        ({}, 400, "slug"),
        ({"slug": "new"}, 422, "task"),
        ({"slug": "new", "task": "single"}, 422, "at least 2"),
        ({"slug": "new", "task": "odd"}, 400, "task"),
        ({"slug": "two words", "task": "text"}, 400, "slug"),
        ({"slug": "taken", "task": "text"}, 422, "taken"),
        ({"slug": "new", "task": "text", "overlap": 99}, 400, "overlap"),
        ({"slug": "new", "task": "text", "schema": {"task": "multi"}}, 422, "another"),
        ({"slug": "new", "schema": [1]}, 422, "JSON object"),
        ({"slug": "new", "task": "text", "schema": "x"}, 422, "JSON object"),
        ({"slug": "new", "task": "text", "name": "nul \x00"}, 400, "name"),
        ([], 400, ""),
    ],
)
def test_a_refusal_says_what_is_wrong(sent: Any, status: int, words: str) -> None:
    ProjectFactory.create(slug="taken")
    response = api_of(UserFactory.create()).post(URL, sent)
    assert response.status_code == status, response.content
    assert words in response.json()["detail"]
    assert Project.objects.count() == 1


def test_an_unknown_field_is_refused_by_its_name() -> None:
    project = ProjectFactory.create()
    client = api_of(member(project, Role.MANAGER))
    schema = {"task": "single", "labels": ["good", "bad"]}
    made = client.post(URL, {"slug": "new", "label_schema": schema})
    changed = client.patch(f"{URL}{project.slug}/", {"name": "New", "guidelines": "Read"})
    assert (made.status_code, changed.status_code) == (422, 422)
    assert made.json()["errors"] == [
        {"field": "label_schema", "message": "A project has no such field."}
    ]
    assert changed.json()["errors"][0]["field"] == "guidelines"
    assert [project.name for project in Project.objects.all()] == [project.name]


def test_a_change_makes_new_versions() -> None:
    project = ProjectFactory.create()
    client = api_of(member(project, Role.MANAGER))
    sent = {
        "name": "Renamed",
        "schema": {"task": "single", "labels": ["good", "bad", "mixed"]},
        "guideline": "Read",
    }
    response = client.patch(f"{URL}{project.slug}/", sent)
    assert_matches_schema(response, "PATCH", ONE)
    body = response.json()
    assert (body["name"], body["schema_version"], body["guideline"]) == ("Renamed", 2, "Read")


def test_a_colour_is_read_and_set_without_a_new_version() -> None:
    project = ProjectFactory.create()
    client = api_of(member(project, Role.MANAGER))
    schema = client.get(f"{URL}{project.slug}/").json()["schema"]
    schema["labels"][0]["color"] = "teal"
    response = client.patch(f"{URL}{project.slug}/", {"schema": schema})
    assert_matches_schema(response, "PATCH", ONE)
    assert (response.json()["schema"], response.json()["schema_version"]) == (schema, 1)
    copy = client.post(URL, {"slug": "copy", "schema": response.json()["schema"]})
    assert copy.json()["schema"] == schema


def test_a_change_that_strands_labels_is_a_conflict_and_changes_nothing() -> None:
    project = ProjectFactory.create()
    ItemFactory.create(project=project)
    client = api_of(member(project, Role.MANAGER))
    sent = {"name": "New", "schema": {"task": "single", "labels": ["good", "ill"]}}
    response = client.patch(f"{URL}{project.slug}/", sent)
    assert (response.status_code, response.json()["code"]) == (409, "schema_in_use")
    project.refresh_from_db()
    assert project.name != "New"


@all_cases("field", ["task", "labels"])
def test_what_is_said_twice_must_agree(field: str) -> None:
    schema = {"task": "multi", "labels": ["Food"]}
    sent = {"slug": "odd", "schema": schema, field: {"task": "single", "labels": ["Price"]}[field]}
    response = api_of(UserFactory.create()).post(URL, sent)
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == field


def test_the_review_plan_changes_elsewhere_but_may_be_sent_back() -> None:
    project = ProjectFactory.create()
    client = api_of(member(project, Role.MANAGER))
    read = client.get(f"{URL}{project.slug}/").json()
    assert client.patch(f"{URL}{project.slug}/", read).status_code == 200
    refused = client.patch(f"{URL}{project.slug}/", {"overlap": 5})
    assert refused.status_code == 422
    assert "plan" in refused.json()["detail"]


def test_a_manager_deletes_a_project() -> None:
    project = ProjectFactory.create()
    response = api_of(member(project, Role.MANAGER)).delete(f"{URL}{project.slug}/")
    assert_matches_schema(response, "DELETE", ONE)
    assert not Project.objects.exists()
