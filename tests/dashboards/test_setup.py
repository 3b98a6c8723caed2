"""The set-up page: data, labels, models, people."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from tests.factories.labels import open_item
from tests.factories.projects import ImportBatchFactory, ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """A single project whose labels have unfriendly names."""
    labels = [{"name": "<script>"}, {"name": 'it\'s "so"'}]
    return ProjectFactory.create(
        definition={"task": "single", "question": "<i>Well?</i>", "labels": labels}
    )


def setup(client: Client, project: Project) -> str:
    """The page's HTML."""
    response = client.get(f"/p/{project.slug}/setup/")
    assert response.status_code == 200
    return response.content.decode()


def test_a_manager_sees_the_four_steps(project: Project, client: Client) -> None:
    ensure_builtin()
    open_item(project)
    ImportBatchFactory.create(project=project, created=1, failed=2)
    user = member(project, Role.MANAGER)
    client.force_login(user)

    html = setup(client, project)

    for heading in ("1. Data", "2. Labels", "3. Models", "4. People"):
        assert heading in html
    assert "Done: 1 new, 0 unchanged, 0 in conflict, 2 faulty" in html
    assert "Exactly one of your labels fits." in html
    assert "not an LLM" in html
    assert user.username in html


def test_names_and_questions_are_escaped(project: Project, client: Client) -> None:
    client.force_login(member(project, Role.MANAGER))

    html = setup(client, project)

    assert '<span class="tag">&lt;script&gt;</span>' in html
    assert "it&#x27;s &quot;so&quot;" in html
    assert "&lt;i&gt;Well?" in html


def test_it_takes_the_same_queries_however_many_people(
    project: Project, client: Client, django_assert_num_queries: Any
) -> None:
    ensure_builtin()
    for _ in range(5):
        member(project, Role.REVIEWER)
        ImportBatchFactory.create(project=project)
    client.force_login(member(project, Role.MANAGER))

    # session, user; project by membership; counts, backlog, cost, imports under way, runs,
    # suggestions that are right; schema, guideline, imports, models, people
    with django_assert_num_queries(15):
        setup(client, project)
