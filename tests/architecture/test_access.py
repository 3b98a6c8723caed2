"""Nobody sees or changes what they may not: every address, method and kind of person.

The addresses are read from the resolver; what is expected of them stands in ``access_table``.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from pytest_django import DjangoDbBlocker

from apps.authors.consumers import websocket_urlpatterns as authors
from apps.common.addresses import shows_page
from apps.debates.consumers import websocket_urlpatterns as debates
from apps.debates.selectors import may_watch
from tests.architecture.access_table import (
    ACCOUNT_PAGES,
    DIRECTORY,
    PAGES,
    REST,
    SILENT,
    Level,
    Row,
)
from tests.architecture.access_world import ACTORS, MEMBERS, SECRET, World, shared_world

pytestmark = pytest.mark.django_db
LEAK = "the secret"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NO_PERSON = {"anonymous", "server"}


@pytest.fixture(scope="module")
def built(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with shared_world(django_db_blocker) as shared:
        yield shared


@pytest.fixture
def world(built: World, db: None) -> World:
    return built


def addresses(
    patterns: list[Any] | None = None, namespace: str = ""
) -> Iterator[tuple[str, set[str]]]:
    """Name and the names of the parts of every address; a namespace stands before a colon."""
    for entry in patterns if patterns is not None else get_resolver().url_patterns:
        if isinstance(entry, URLResolver):
            inner = entry.namespace or namespace
            for name, parts in addresses(entry.url_patterns, inner):
                yield name, parts | set(entry.pattern.converters)
        elif isinstance(entry, URLPattern):
            name = entry.name or str(entry.pattern)
            # Parts of an address that is written as a regular expression.
            parts = set(entry.pattern.converters) | set(entry.pattern.regex.groupindex)
            yield f"{namespace}:{name}" if namespace else name, parts


PARTS = dict(addresses())
WITHIN_PROJECTS = [
    name for name in (*PAGES, *REST) if "slug" in PARTS.get(name, ()) and len(PARTS[name]) > 1
]


def test_every_address_is_in_the_table() -> None:
    known = {*PAGES, *REST, *ACCOUNT_PAGES, *DIRECTORY}
    unknown = {name for name in PARTS if not name.startswith("admin:")} - known
    assert unknown == set(), "enter them in tests/architecture/access_table.py"


def test_the_table_names_no_address_that_is_gone() -> None:
    assert {*PAGES, *REST, *ACCOUNT_PAGES, *DIRECTORY} - set(PARTS) == set()


def test_the_addresses_without_a_page_are_known(world: World) -> None:
    """Nobody is sent there after signing in."""
    shown = {
        name
        for name in PAGES
        if shows_page(reverse(name, kwargs={part: world.ids[part] for part in PARTS[name]}))
    }
    assert shown == {name for name, row in PAGES.items() if "GET" in row.levels}


@pytest.mark.thorough
@pytest.mark.parametrize("name", PAGES)
def test_pages(world: World, name: str) -> None:
    faults = [
        fault
        for actor in ACTORS
        for fault in faults_of(world, world.page_client(actor), actor, name, PAGES[name])
    ]
    assert faults == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", REST)
def test_rest(world: World, name: str) -> None:
    faults = [
        fault
        for actor in ACTORS
        for fault in faults_of(world, world.rest_client(actor), actor, name, REST[name])
    ]
    assert faults == []


def faults_of(world: World, client: Client, actor: str, name: str, row: Row) -> Iterator[str]:
    """What ``actor`` is wrongly given or refused at one address."""
    for method in METHODS:
        level = row.levels.get(method)
        kwargs = world.kwargs(PARTS[name], actor, level or next(iter(row.levels.values())))
        status = ask(client, method, reverse(name, kwargs=kwargs))
        if status == LEAK and actor in MEMBERS[Level.VIEW]:
            status = "200"
        if level is None:
            right = status in {"405", "401", "403", "404", "login"}
        elif allowed(level, actor):
            absent = status == "404" and method in row.absent
            right = absent or (
                status[0] in "234" and status not in {"401", "403", "404", "405", "login"}
            )
        else:
            right = status in refusals(level, actor, name)
        if not right:
            yield f"{method} {name} as {actor}: {status}"


def ask(client: Client, method: str, url: str) -> str:
    """The status, ``login`` for the way to the sign-in page, :data:`LEAK` where the secret shows.

    Whatever was done is undone.
    """
    with transaction.atomic():
        response: Any = client.generic(method, url, content_type="application/json")
        body = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    if SECRET.encode() in body:
        return LEAK
    if response.status_code == 302 and response["Location"].startswith("/accounts/login/"):
        return "login"
    return str(response.status_code)


def allowed(level: Level, actor: str) -> bool:
    """Whether the table lets ``actor`` pass."""
    if level is Level.EVERYBODY:
        return True
    if level in (Level.SIGNED_IN, Level.OWN):
        return actor not in NO_PERSON
    if level is Level.SERVER:
        return actor == "server"
    return actor in MEMBERS.get(level, {"operator"})


def refusals(level: Level, actor: str, name: str) -> set[str]:
    """How somebody who may not pass is to be told."""
    if actor in NO_PERSON:
        return {"401"} if name in REST else {"login"}
    if level is Level.SERVER:
        return {"401"}
    if level is Level.OPERATE:
        return {"403", "404"}
    return {"403"} if actor in MEMBERS[Level.VIEW] else {"404"}


@pytest.mark.parametrize("name", WITHIN_PROJECTS)
def test_ones_own_project_opens_no_door_to_what_is_in_another(world: World, name: str) -> None:
    """The manager of another project names their own project, and something of this one."""
    row = {**PAGES, **REST}[name]
    client = (world.rest_client if name in REST else world.page_client)("other_manager")
    kwargs = {part: world.ids[part] for part in PARTS[name]} | {"slug": world.foreign.slug}
    url = reverse(name, kwargs=kwargs)
    statuses = {method: ask(client, method, url) for method in row.levels}
    if name in SILENT:
        assert LEAK not in statuses.values()
    else:
        assert statuses == dict.fromkeys(row.levels, "404")


@pytest.mark.parametrize("name", ACCOUNT_PAGES)
def test_account_pages(world: World, name: str) -> None:
    url = reverse(name, kwargs={part: world.ids[part] for part in PARTS[name]})
    statuses = {
        actor: ask(world.page_client(actor), "GET", url) for actor in ("anonymous", "viewer")
    }
    assert not {status for status in statuses.values() if status[0] == "5" or status == LEAK}
    if ACCOUNT_PAGES[name] is Level.SIGNED_IN:
        assert statuses["anonymous"] == "login"
        assert statuses["viewer"] != "login"


def test_addresses_of_the_directory_want_its_token_of_everybody(world: World) -> None:
    for actor in ACTORS:
        for client in (world.page_client(actor), world.rest_client(actor)):
            found = {ask(client, method, reverse(n)) for n in DIRECTORY for method in METHODS}
            assert found == {"401"}


@pytest.mark.thorough
def test_the_admin_console_is_for_operators(world: World) -> None:
    pages = [reverse("admin:index")] + [
        reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        for model in admin.site._registry
    ]
    for actor in ACTORS:
        client = world.page_client(actor)
        passed = [url for url in pages if client.get(url).status_code == 200]
        assert passed == (pages if actor == "operator" else [])


def test_sockets_are_for_members(world: World) -> None:
    """Each socket is named here with what guards it; tests/debates/test_socket.py opens it. The
    widget's is for everybody from a site's own pages (tests/authors)."""
    assert {str(entry.pattern) for entry in debates} == {"ws/v1/runs/<int:run_id>/"}
    assert {str(entry.pattern) for entry in authors} == {"ws/v1/widget/"}
    run_id = world.ids["run_id"]
    watching = {actor for actor, user in world.people.items() if may_watch(user, run_id)}
    assert watching == MEMBERS[Level.VIEW]
