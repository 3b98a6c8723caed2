"""/p/<slug>/labels/ and /p/<slug>/guideline/."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.projects.selectors import current_guideline, current_schema
from tests.factories.projects import (
    ASPECTS,
    GuidelineFactory,
    ItemFactory,
    LabelSchemaFactory,
    ProjectFactory,
    member,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotels", definition=ASPECTS)


@pytest.fixture
def manager(client: Client, project: Project) -> Client:
    client.force_login(member(project, Role.MANAGER))
    return client


def rows(*names: str, **fields: Any) -> dict[str, Any]:
    sent = {"label-TOTAL_FORMS": str(len(names)), "label-INITIAL_FORMS": "0", **fields}
    return sent | {f"label-{position}-name": name for position, name in enumerate(names)}


def test_a_manager_edits_and_makes_a_version(manager: Client, project: Project) -> None:
    page = manager.get("/p/hotels/labels/").content.decode()
    assert 'value="Food"' in page
    response = manager.post("/p/hotels/labels/", rows("Food", "Price", task="multi"), follow=True)
    assert "version 2" in response.content.decode()
    assert current_schema(project).parsed.names == ("Food", "Price")


def test_a_manager_chooses_a_colour(manager: Client, project: Project) -> None:
    ItemFactory.create(project=project)
    names = current_schema(project).parsed.names
    sent = rows(*names, task="multi", **{"label-0-color": "purple"})

    manager.post("/p/hotels/labels/", sent)

    assert current_schema(project).parsed.color(names[0]) == "purple"
    assert 'value="purple" selected' in manager.get("/p/hotels/labels/").content.decode()


def test_the_form_sent_as_it_was_shown_changes_nothing(manager: Client, project: Project) -> None:
    LabelSchemaFactory.create(
        project=project,
        version=2,
        definition={
            "task": "ordinal",
            "question": "How good?",
            "labels": [
                {"name": "bad", "point": 0.5, "examples_for": ["one", "two"], "include": "x\ny"},
                {"name": "good", "point": 2, "exclude": "z"},
            ],
        },
    )
    shown = manager.get("/p/hotels/labels/").context["labels"]
    sent: dict[str, Any] = {"task": "ordinal", "schema-question": shown.whole["question"].value()}
    for form in (shown.rows.management_form, *shown.rows):
        for field in form:
            if field.value() not in (None, ""):
                sent[field.html_name] = field.value()
    response = manager.post("/p/hotels/labels/", sent)
    assert response.status_code == 302
    assert current_schema(project).version == 2


def test_a_manager_writes_the_guideline(manager: Client, project: Project) -> None:
    response = manager.post("/p/hotels/guideline/", {"text": "Read\r\nit"}, follow=True)
    assert "version 1" in response.content.decode()
    saved = current_guideline(project)
    assert saved is not None
    assert saved.text == "Read\nit"


def test_others_read_the_guideline_escaped(client: Client, project: Project) -> None:
    GuidelineFactory.create(project=project, text="<b>Be kind</b>")
    client.force_login(member(project, Role.REVIEWER))
    page = client.get("/p/hotels/guideline/").content.decode()
    assert "&lt;b&gt;Be kind" in page
    assert client.post("/p/hotels/guideline/", {"text": "x"}).status_code == 403


def test_with_items_a_removed_label_is_refused_with_a_reason(
    manager: Client, project: Project
) -> None:
    ItemFactory.create(project=project)
    response = manager.post("/p/hotels/labels/", rows("Food", task="text"))
    assert response.status_code == 422
    assert "&#x27;Service&#x27; is missing" in response.content.decode()
    assert current_schema(project).version == 1
