"""A project of one label per item, and people of it who review."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Item, Project
from tests.factories.accounts import api_of, browser_of
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import expert, new_project, reviewer


@pytest.fixture
def project(request: pytest.FixtureRequest) -> Project:
    """With the fields that the test's module names in ``PROJECT``."""
    return new_project(**getattr(request.module, "PROJECT", {}))


@pytest.fixture
def item(project: Project) -> Item:
    """In the queue."""
    return queued_items(project, 1)[0]


@pytest.fixture
def person(project: Project) -> User:
    return reviewer(project)


@pytest.fixture
def judge(project: Project) -> User:
    return expert(project)


@pytest.fixture
def manager(project: Project) -> User:
    return member(project, Role.MANAGER, ReviewerKind.EXPERT)


@pytest.fixture
def browser(person: User) -> Client:
    """Where ``person`` is signed in."""
    return browser_of(person)


@pytest.fixture
def api(person: User) -> APIClient:
    """REST as ``person``."""
    return api_of(person)
