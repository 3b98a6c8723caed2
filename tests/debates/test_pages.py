"""The pages of runs and debates: by right, with what they promise, without a query too many."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.roles import Role
from apps.projects.models import Project
from tests.factories.debates import project_with_items, started_run
from tests.factories.projects import member

pytestmark = pytest.mark.django_db


def signed_in(project: Project, role: Role = Role.MANAGER) -> Client:
    client = Client()
    client.force_login(member(project, role))
    return client


def test_the_list_of_runs_asks_no_more_for_more_runs(django_assert_num_queries: Any) -> None:
    project = project_with_items(2)
    client = signed_in(project)
    address = reverse("run_list", args=[project.slug])
    for _ in range(3):
        started_run(project, "ecj")
    # session, user, project by membership, count, runs, their roles, their debates' counts
    with django_assert_num_queries(8):
        assert client.get(address).status_code == 200
