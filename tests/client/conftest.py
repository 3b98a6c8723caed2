"""Clients of the real application: in this process, and of a server of its own."""

from collections.abc import Callable, Iterator

import httpx
import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Project
from labelhub_client import Client, ProjectClient
from tests.client.helpers import QUICK, Served
from tests.factories.accounts import ApiKeyFactory
from tests.factories.projects import ProjectFactory, member
from tests.fakes.stack import Stack
from tests.schema_file import copy_schema


@pytest.fixture
def project(db: None) -> Project:
    """Good or bad; in the database."""
    return ProjectFactory.create(slug="moods")


@pytest.fixture
def open_connection() -> Iterator[None]:
    """Requests leave the test's connection open, with the transaction that is rolled back at the
    end; Django's own test client sees to it in the same way."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def client_of(db: None, open_connection: None) -> Iterator[Callable[[User], Client]]:
    """Makes a client with a key of somebody's; it speaks to the application in this thread."""
    opened: list[Client] = []

    def open_one(user: User) -> Client:
        plain = f"lh_{len(opened):043d}"
        ApiKeyFactory.create(user=user, plain=plain)
        transport = httpx.WSGITransport(get_wsgi_application())
        opened.append(
            Client("http://testserver", plain, retries=QUICK, progress=False, transport=transport)
        )
        return opened[-1]

    yield open_one
    for client in opened:
        client.close()


@pytest.fixture
def managed(project: Project, client_of: Callable[[User], Client]) -> ProjectClient:
    """The project, for its manager."""
    return client_of(member(project, Role.MANAGER)).project(project.slug)


@pytest.fixture
def reviewed(project: Project, client_of: Callable[[User], Client]) -> ProjectClient:
    """The project, for one of its reviewers."""
    return client_of(member(project, Role.REVIEWER)).project(project.slug)


@pytest.fixture(scope="session")
def served(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with its worker, and the key of an operator: for all tests of this process, as a
    start takes seconds."""
    folder = tmp_path_factory.mktemp("client")
    copy_schema(folder)
    with Stack(folder) as stack:
        key = stack.people("boss")["boss"]
        yield Served(stack.server()[1], key)
