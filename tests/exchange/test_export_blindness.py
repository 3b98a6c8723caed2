"""A reviewer's file tells nothing of what others say before their own answer."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Project
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, new_project, queued_items, reviewer

pytestmark = pytest.mark.django_db


def exported(project: Project, user: User) -> int:
    """The status of a download."""
    client = Client()
    client.force_login(user)
    return client.get(f"/api/v1/projects/{project.slug}/export/").status_code


def test_who_has_yet_to_answer_gets_no_file() -> None:
    project = new_project(overlap=2)
    queued_items(project, 1)
    first, second = reviewer(project), reviewer(project)
    assert exported(project, second) == 200
    answer(claim(project, first), first, "good")

    assert [exported(project, user) for user in (first, second)] == [200, 403]
    assert exported(project, member(project, Role.MANAGER)) == 200

    answer(claim(project, second), second, "good")
    assert exported(project, second) == 200
