"""A project of one label per item, and people of it who review."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.projects.models import Project
from tests.factories.reviews import expert, new_project, reviewer


@pytest.fixture
def project() -> Project:
    return new_project()


@pytest.fixture
def person(project: Project) -> User:
    return reviewer(project)


@pytest.fixture
def judge(project: Project) -> User:
    return expert(project)


@pytest.fixture
def browser(person: User) -> Client:
    """Where ``person`` is signed in."""
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def api(person: User) -> APIClient:
    """REST as ``person``."""
    client = APIClient()
    client.force_authenticate(person)
    return client
