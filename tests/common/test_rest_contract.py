"""What every REST operation keeps, whatever its view: the table is the OpenAPI document.

Who may do what is in ``tests/architecture``; what holds before a view is asked is in
``test_api_addresses``.
"""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoDbBlocker
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.authors.models import Payout, Site
from apps.common.api.docs import openapi_document
from apps.common.api.openapi import METHODS
from apps.common.audit import Action, record
from apps.debates.models import Debate, Experiment
from apps.echo.models import CatalogueItem, Selection
from apps.echo.services.configuration import switch_echo
from apps.echo.services.experiments import create_experiment
from apps.exchange.models import Delivery, ProjectImport, SavedExport
from apps.projects.invitations import create_invitation
from apps.projects.models import ItemChange, Membership, SchemaChange
from apps.projects.selectors import current_schema
from apps.reviews.models import BulkJob, Comment, SavedFilter
from labelhub.core.echo.experiments.assignment import Arm
from tests.architecture.access_world import World, shared_world
from tests.common.openapi import assert_matches_schema, for_operators, operations
from tests.factories.agreement import decide, propose, run_of
from tests.factories.authors import answered_by, author_of, site_with_features
from tests.factories.exchange import webhook_of
from tests.factories.labels import open_item
from tests.factories.llm import ModelSpecFactory, ProviderFactory
from tests.factories.offers import decision_of
from tests.factories.projects import LabelSchemaFactory, ProjectFactory, member

pytestmark = pytest.mark.django_db
#: What they would show is not in the world, or, of an item that nobody has labelled, not yet.
REFUSED = {"quality_requeue_state": 404, "site_echo_message": 404, "item_opinions": 409}
#: Operations that answer with something also where a part of the address is unknown.
SILENT = {"site_author_optout", "lease_release"}
#: What no row can be added to: the project's own prompts, and what waits for an expert.
FIXED = {"prompt_list", "adjudication_list"}


#: Lists by cursor instead of page number.
CURSORS = {"audit_list", "projects_audit_list"}


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with shared_world(django_db_blocker) as shared:
        yield shared


def places(world: World, path: str = "") -> dict[str, Any]:
    shared = world.shared if for_operators(path) else {}
    return {**world.ids, **shared, "id": world.ids["pk"]}


def client_of(world: World, operation: dict[str, Any], path: str) -> APIClient:
    """Of a manager, an operator, or a site's own server."""
    if for_operators(path):
        return world.rest_client("operator")
    return world.rest_client("server" if "siteKey" in str(operation["security"]) else "manager")


def ask(client: APIClient, method: str, url: str, query: Any = None) -> Any:
    """The answer; whatever was done is undone."""
    query_string = "&".join(f"{name}={value}" for name, value in (query or {}).items())
    with transaction.atomic():
        answer = client.generic(
            method, url, "{}", content_type="application/json", QUERY_STRING=query_string
        )
        transaction.set_rollback(True)
    return answer


def is_problem(answer: Any, status: int) -> bool:
    media = answer.headers.get("Content-Type", "")
    return (answer.status_code, media) == (status, "application/problem+json")


def names_of(operation: dict[str, Any], place: str) -> set[str]:
    return {row["name"] for row in operation.get("parameters", []) if row["in"] == place}


def required(operation: dict[str, Any], world: World) -> dict[str, Any]:
    """Query parameters without which it answers nothing."""
    given = {"author": world.ids["subject"], "id": "unknown", "username": "unknown"}
    rows = [row for row in operation.get("parameters", []) if row.get("required")]
    return {row["name"]: given[row["name"]] for row in rows if row["in"] == "query"}


def test_what_is_read_is_as_documented(world: World) -> None:
    faults = []
    for method, path, operation in operations():
        if method != "GET":
            continue
        url = path.format(**places(world, path))
        answer = ask(client_of(world, operation, path), method, url, required(operation, world))
        if answer.status_code != REFUSED.get(operation["operationId"], 200):
            faults.append(f"{url}: {answer.status_code}")
        if not answer.streaming:
            try:
                assert_matches_schema(answer, method, path)
            except AssertionError as error:
                faults.append(f"{url}: {error}")
    assert not faults, "\n".join(faults)


def test_what_an_address_does_not_know_is_not_found(world: World) -> None:
    faults = []
    for method, path, operation in operations():
        for name in names_of(operation, "path"):
            known = places(world, path)
            absent: Any = "absent"
            if isinstance(known[name], int):
                absent = 2**62
            elif isinstance(known[name], UUID):
                absent = uuid4()
            url = path.format(**known | {name: absent})
            answer = ask(client_of(world, operation, path), method, url, required(operation, world))
            # A key opens its own site alone; and of what is sent the form may be checked first.
            refusals = {404, 401} if "siteKey" in str(operation["security"]) else {404}
            allowed = refusals if name in {"slug", "public_key"} else {*refusals, 400, 422}
            silent = operation["operationId"] in SILENT
            if not silent and not any(is_problem(answer, status) for status in allowed):
                faults.append(f"{method} {url}: {answer.status_code}")
    assert not faults, "\n".join(faults)


def test_other_methods_are_not_allowed(world: World) -> None:
    faults = []
    for path, methods in openapi_document()["paths"].items():
        client = client_of(world, next(iter(methods.values())), path)
        for method in set(METHODS) - set(methods):
            answer = ask(client, method.upper(), path.format(**places(world, path)))
            # Where a key of another kind opens the other methods, it is no key to these.
            if not (is_problem(answer, 405) or is_problem(answer, 401)):
                faults.append(f"{method} {path}: {answer.status_code}")
    assert not faults, "\n".join(faults)


def paged(world: World, **other: str) -> Iterator[tuple[str, str, str]]:
    """Operation id, method and address of every list."""
    for method, path, operation in operations():
        if method == "GET" and "page_size" in names_of(operation, "query"):
            yield operation["operationId"], method, path.format(**places(world, path) | other)


def test_every_list_has_the_same_bounds(world: World) -> None:
    faults = []
    for name, method, url in paged(world):
        client = world.rest_client("operator" if for_operators(url) else "manager")
        queries = [
            {"page_size": 0},
            {"page_size": 1001},
            {"page_size": 1000},
            {"page": 0},
            {"page": 99},
        ]
        found = [ask(client, method, url, query).status_code for query in queries]
        # Lists with a cursor know no page numbers.
        absent = 400 if name in CURSORS else 404
        if found != [400, 400, 200, absent, absent]:
            faults.append(f"{name}: {found}")
    assert not faults, "\n".join(faults)


def add_to_project(world: World) -> None:
    """One more of everything that a project's lists show."""
    project, manager, name = world.project, world.people["manager"], uuid4().hex[:8]
    record(Action.PROJECT_CHANGED, project)
    item = open_item(project, text=name)
    label = propose(run_of(project), item, "good")
    decide(item, "good")
    Comment.objects.create(project=project, item=item, text="A", author=manager)
    Debate.objects.create(run_id=world.ids["run_id"], item=item, status=Debate.Status.FAILED)
    Experiment.objects.create(project=project, title=name)
    ProjectImport.objects.create(file_name=name)
    SavedExport.objects.create(project=project, format="csv", status="done", created_by=manager)
    SavedFilter.objects.create(project=project, name=name, query={})
    BulkJob.objects.create(project=project, action="promote", actor=manager)
    before = current_schema(project)
    after = LabelSchemaFactory.create(project=project, version=before.version + 1)
    SchemaChange.objects.create(
        project=project, from_schema=before, to_schema=after, created_by=manager, operations=[]
    )
    member(project, Role.REVIEWER)
    create_invitation(project=project, actor=manager, role="viewer", kind="crowd")
    ModelSpecFactory.create()
    ProviderFactory.create(project=project)
    ItemChange.objects.create(project=project, item_id=item.pk, external_id=name)
    Membership.objects.create(project=ProjectFactory.create(), user=manager, role=Role.VIEWER)
    Site.objects.create(project=project, name=name, public_key=f"pk_{name}", languages=["en"])
    webhook_of(project)
    Delivery.objects.create(
        webhook_id=world.ids["webhook_id"], uid=uuid4(), event="label.created", label=label,
        event_at=timezone.now(),
    )  # fmt: skip


def add_to_site(site: Site) -> None:
    """One more of everything that a site's lists show."""
    name = uuid4().hex[:8]
    author = author_of(site, name)
    answered_by(author)
    Payout.objects.create(site=site, cents=0, rewards=0)
    echo = switch_echo(site, on=True)
    CatalogueItem.objects.create(echo=echo, ref=name, definition={"title": "Tent"})
    Selection.objects.create(echo=echo, author=author, number=0, selected=[], predicted={})
    decision_of(echo, author, timezone.now())
    arms = [Arm("echo", 0.5, "echo"), Arm("nothing", 0.5, "nothing")]
    create_experiment(echo, name=name, arms=arms, control="nothing")


def test_a_longer_list_takes_no_more_queries(world: World) -> None:
    faults = []
    with transaction.atomic():
        # Of a task that authors can answer in, which the world's project has not.
        site = site_with_features(consent_by="host", identity="verified", reward_cents=5)
        Membership.objects.create(
            project=site.project, user=world.people["manager"], role=Role.MANAGER
        )
        for _ in range(3):
            add_to_project(world)
            add_to_site(site)
        for name, method, url in paged(world, public_key=site.public_key):
            if name == "learning":  # a part of its answer is a page
                continue
            client = world.rest_client("operator" if for_operators(url) else "manager")
            counts, rows = [], 0
            for size in (1000, 2, 1000):  # the first fills caches
                with CaptureQueriesContext(connection) as captured:
                    rows = len(ask(client, method, url, {"page_size": size}).json()["results"])
                counts.append(len(captured))
            if counts[1] < counts[2]:
                faults.append(f"{name}: {counts[1:]} queries")
            if rows < 3 and name not in FIXED:  # it would show nothing
                faults.append(f"{name}: only {rows} rows")
        transaction.set_rollback(True)
    assert not faults, "\n".join(faults)


def test_a_parameter_that_cannot_be_used_is_refused(world: World) -> None:
    """What is ignored instead would give everything to somebody who asked for a part."""
    faults = []
    for method, path, operation in operations():
        for row in operation.get("parameters", []):
            free = row["schema"].get("type") == "string" and "enum" not in row["schema"]
            if row["in"] != "query" or free:
                continue
            query = {**required(operation, world), row["name"]: "neither"}
            url = path.format(**places(world, path))
            answer = ask(client_of(world, operation, path), method, url, query)
            if not any(is_problem(answer, status) for status in (400, 404, 422)):
                faults.append(f"{method} {url}?{row['name']}: {answer.status_code}")
    assert not faults, "\n".join(faults)
