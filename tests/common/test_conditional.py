"""ETag, If-None-Match and If-Match."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.projects.models import Project
from tests.factories.labels import open_item
from tests.factories.projects import ProjectFactory, member_api

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(description="first")


@pytest.fixture
def manager(project: Project) -> APIClient:
    return member_api(project)


def url_of(project: Project, rest: str = "") -> str:
    return f"/api/v1/projects/{project.slug}/{rest}"


def test_what_is_known_is_not_sent_again(project: Project, manager: APIClient) -> None:
    item = open_item(project)
    for url in (url_of(project), url_of(project, "items/"), f"/api/v1/items/{item.pk}/",
                url_of(project, f"items/{item.pk}/"), url_of(project, "plan/")):  # fmt: skip
        first = manager.get(url)
        tag = first["ETag"]
        for sent in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = manager.get(url, HTTP_IF_NONE_MATCH=sent)
            assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag), url
        assert manager.get(url, HTTP_IF_NONE_MATCH='"other"').content == first.content


def test_each_change_of_schema_guideline_or_item_changes_the_tag(
    project: Project, manager: APIClient
) -> None:
    item = open_item(project)
    schema = manager.get(url_of(project)).json()["schema"]
    schema["labels"][0]["description"] = "Now described."
    changes: list[tuple[str, dict[str, Any]]] = [
        (url_of(project), {"description": "second"}),
        (url_of(project), {"guideline": "Look twice."}),
        (url_of(project), {"schema": schema}),
        (url_of(project, f"items/{item.pk}/"), {"meta": {"a": 1}}),
    ]
    for url, change in changes:
        before = manager.get(url)["ETag"]
        changed = manager.patch(url, change, HTTP_IF_MATCH=before)
        assert changed.status_code == 200, changed.content
        assert before != changed["ETag"] == manager.get(url)["ETag"]


def test_what_was_changed_meanwhile_is_not_changed_again(
    project: Project, manager: APIClient
) -> None:
    url = url_of(project)
    seen = manager.get(url)["ETag"]
    manager.patch(url, {"description": "by another"})
    for method, body in (("patch", {"description": "by me"}), ("delete", None)):
        refused = getattr(manager, method)(url, body, HTTP_IF_MATCH=seen)
        assert (refused.status_code, refused.json()["code"]) == (412, "precondition_failed")
    project.refresh_from_db()
    assert project.description == "by another"
    for form in ("*", "{}", "W/{}", '"other", {}'):
        sent = form.format(manager.get(url)["ETag"])
        assert manager.patch(url, {"description": form}, HTTP_IF_MATCH=sent).status_code == 200


def test_where_nothing_is_shown_no_tag_matches(project: Project, manager: APIClient) -> None:
    url = url_of(project, "members/?username=nobody")
    assert manager.delete(url, HTTP_IF_MATCH="*").status_code == 412
    gone = manager.patch(url_of(project, "items/999/"), {"meta": {}}, HTTP_IF_MATCH="*")
    assert gone.status_code == 404
    assert manager.patch(url_of(project), {}, HTTP_IF_MATCH="no tag\t٣").status_code == 412


def test_a_condition_is_no_way_around_a_right(project: Project) -> None:
    stranger = member_api(ProjectFactory.create())
    assert stranger.patch(url_of(project), {}, HTTP_IF_MATCH="*").status_code == 404
