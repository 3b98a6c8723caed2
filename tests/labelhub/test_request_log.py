"""One line for each request: who, what, from where, how long; and no secret in any."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client, RequestFactory

from apps.accounts.roles import Role
from apps.accounts.services import create_api_key, revoke_api_key
from apps.common import middleware
from apps.common.audit import Action, acting, record
from apps.common.metrics import REQUESTS, SIGN_INS
from apps.common.request_log import REFUSED
from apps.common.request_record import RequestRecord, request_context, request_id_from
from apps.projects.services import delete_project
from labelhub.observe.requests import observe_requests, observe_sockets
from labelhub.web.asgi_types import Message
from labelhub.web.bodies import require_whole_bodies
from tests.factories.accounts import PASSWORD, UserFactory
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory, invited, member, member_browser
from tests.fakes.log_lines import Lines, printed_lines

TEXT = "The breakfast was cold and the room smelled of smoke."

pytestmark = pytest.mark.django_db


@pytest.fixture
def lines() -> Iterator[Lines]:
    with printed_lines() as printed:
        yield printed


def test_the_line_of_a_page_says_who_and_where_and_the_route_not_the_query(lines: Lines) -> None:
    project = ProjectFactory.create()
    browser = member_browser(project)
    response = browser.get(
        f"/p/{project.slug}/?q={TEXT}", headers={"X-Request-ID": "from-the-proxy-1"}
    )
    assert response["X-Request-ID"] == "from-the-proxy-1"
    (line,) = lines.json("labelhub.access")
    assert line.pop("ms") > 0
    user = project.memberships.get().user
    del line["timestamp"]
    assert line == {
        "level": "info", "logger": "labelhub.access", "event": "request",
        "method": "GET", "path": f"/p/{project.slug}/", "route": "/p/<slug:slug>/",
        "status": 200, "user": user.username, "user_id": user.pk,
        "request_id": "from-the-proxy-1", "address": "127.0.0.1",
    }  # fmt: skip
    assert "breakfast" not in lines.text


def test_the_line_costs_no_query_and_no_session(
    client: Client, lines: Lines, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        client.get("/no/such/address/")
    (line,) = lines.json("labelhub.access")
    assert (line["route"], line["status"], "user" in line) == ("none", 404, False)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("0123456789abcdef", True), ("b3c1-77.x_y", True),
        ("short", False), ("", False), ("x" * 65, False),
        ("a\nb-forged-line", False), ("$(reboot)-and-more", False), ("-leading-dash-id", False),
    ],
)  # fmt: skip
def test_only_sane_ids_are_taken_from_outside(sent: str, kept: bool) -> None:
    assert (request_id_from(sent) == sent) is kept


def test_refusals_are_logged_as_warnings_with_user_or_key(client: Client, lines: Lines) -> None:
    project = ProjectFactory.create()
    browser = member_browser(project, Role.VIEWER)
    assert browser.get(f"/p/{project.slug}/settings/").status_code == 403
    reader = create_api_key(user=member(project, Role.MANAGER), name="r", scope="read")
    headers = {"Authorization": f"Token {reader.plain}"}
    address = f"/api/v1/projects/{project.slug}/items/"
    assert client.post(address, headers=headers).status_code == 403
    page = client.get(address, headers=headers | {"X-Request-ID": "read-by-a-key"})
    assert page.status_code == 200
    (read,) = lines.json("labelhub.access")
    assert (read["key"], read["user_id"]) == (f"ApiKey {reader.key.pk}", reader.key.user_id)
    wrong = {"Authorization": "Token lh_wrong-wrong-wrong-wrong"}
    assert client.get(address, headers=wrong).status_code == 401
    (scope,) = lines.json("labelhub.security", "scope refused")
    assert (scope["key"], scope["user_id"]) == (f"ApiKey {reader.key.pk}", reader.key.user_id)
    assert (scope["scope"], scope["needed"]) == ("read", "write")
    found = lines.json("labelhub.security", "request")
    assert [(line["level"], line["status"]) for line in found] == [
        ("warning", 403), ("warning", 403), ("warning", 401),
    ]  # fmt: skip
    assert found[0]["user"]
    assert "wrong-wrong" not in lines.text
    assert reader.plain not in lines.text


def test_failed_sign_ins_name_only_accounts_that_exist(
    client: Client, lines: Lines, django_capture_on_commit_callbacks: Any
) -> None:
    """People type their password into the field of the name."""
    user = UserFactory.create(email="ann@example.org")
    before = SIGN_INS.labels("failed")._value.get()
    for name in (user.username, "ANN@example.org", "hunter2-my-password"):
        with django_capture_on_commit_callbacks(execute=True):
            client.post(
                "/accounts/login/", {"login": name, "password": "wrong-password-1"},
                headers={"X-Request-ID": "sign-in-attempt"},
            )  # fmt: skip
    failed = lines.json("labelhub.security", "recorded")
    assert [(line["level"], line["action"], line.get("name")) for line in failed] == [
        ("warning", "session.refused", user.username),
        ("warning", "session.refused", user.username),
        ("warning", "session.refused", None),
    ]
    assert SIGN_INS.labels("failed")._value.get() == before + 3
    assert "hunter2" not in lines.text
    assert "wrong-password" not in lines.text


def test_a_sign_in_is_logged_with_its_user(
    client: Client, lines: Lines, django_capture_on_commit_callbacks: Any
) -> None:
    user = UserFactory.create()
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    (line,) = lines.json("labelhub.security", "recorded")
    assert (line["action"], line["user_id"]) == ("session.started", user.pk)
    (request,) = lines.json("labelhub.access", "request")
    assert (request["status"], request["user_id"]) == (302, user.pk)
    assert PASSWORD not in lines.text
    assert client.cookies["sessionid"].value not in lines.text


@pytest.mark.django_db(transaction=True)
def test_an_action_is_logged_whatever_the_level_with_who_what_and_from_where(
    lines: Lines,
) -> None:
    project = ProjectFactory.create(slug="gone")
    queued_items(project, 1)
    actor = member(project, Role.MANAGER)
    key = create_api_key(user=actor, name="k").key
    request = RequestFactory().post("/")
    request.user = actor
    pk = project.pk
    logging.getLogger("apps").setLevel(logging.CRITICAL)
    try:
        about = RequestRecord(id="the-request-id", address="192.0.2.7")
        with acting(request), request_context(about):
            revoke_api_key(key=key)
            delete_project(project=project, actor=actor)
    finally:
        logging.getLogger("apps").setLevel(logging.WARNING)
    known = {
        "logger": "labelhub.security", "event": "recorded", "user": actor.username,
        "user_id": actor.pk, "request_id": "the-request-id", "address": "192.0.2.7",
    }  # fmt: skip
    found = [line for line in lines.json("labelhub.security") if "request_id" in line]
    for line in found:
        del line["timestamp"]
    assert found == [
        known | {
            "level": "warning", "action": "key.revoked", "subject": f"apikey {key.pk}",
            "name": f"{key.prefix}…",
        },
        known | {
            "level": "warning", "action": "project.deleted", "subject": f"project {pk}",
            "name": project.name, "project": "gone",
        },
    ]  # fmt: skip


def test_what_is_rolled_back_is_not_logged(
    lines: Lines, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        record(Action.PROJECT_CHANGED)
        transaction.set_rollback(True)
    assert lines.json("labelhub.security") == []


def test_secrets_in_paths_are_replaced(client: Client, lines: Lines) -> None:
    invited(ProjectFactory.create(), "a-secret-invitation")
    client.get("/join/a-secret-invitation/")
    client.get("/accounts/password/reset/key/5-abc123-0123456789abcdef/")
    assert [line["path"] for line in lines.json("labelhub.access")] == [
        "/join/<str:invitation>/",
        "/accounts/password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/",
    ]  # fmt: skip
    assert "a-secret-invitation" not in lines.text
    assert "0123456789abcdef/" not in lines.text


def test_4xx_are_one_line_and_5xx_an_error(
    client: Client, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.get("/no/such/address/")
    client.raise_request_exception = False

    def fail(*_: object) -> None:
        raise ValueError(f"broken by {TEXT!r}")

    monkeypatch.setattr(middleware.LabelhubErrorMiddleware, "__call__", fail)
    response = client.get("/", headers={"X-Request-ID": "a-number-to-quote"})
    assert response.status_code == 500
    assert "a-number-to-quote" in response.text
    assert [(line["logger"], line["level"]) for line in lines.json()] == [
        ("labelhub.access", "info"), ("django.request", "error"), ("labelhub.access", "error"),
    ]  # fmt: skip
    assert "ValueError: broken by '…'" in lines.json("django.request")[0]["exception"]
    assert "breakfast" not in lines.text


def test_problems_carry_the_id(client: Client) -> None:
    response = client.get("/api/v1/projects/", headers={"X-Request-ID": "rest-request-1"})
    assert response.status_code in REFUSED
    assert response.json()["request_id"] == response["X-Request-ID"] == "rest-request-1"


def test_machines_that_ask_every_few_seconds_are_counted_not_logged(
    client: Client, lines: Lines
) -> None:
    counter = REQUESTS.labels("/health/ready", "GET", "200")
    before = counter._value.get()
    client.get("/health/ready")
    assert counter._value.get() == before + 1
    assert lines.json("labelhub.access") == []


def test_unknown_methods_share_one_value(client: Client) -> None:
    counter = REQUESTS.labels("/health/ready", "other", "405")
    before = counter._value.get()
    client.generic("BREW", "/health/ready")
    client.generic("M" * 50, "/health/ready")
    assert counter._value.get() == before + 2


def scope_of(path: str, *headers: tuple[bytes, bytes], kind: str = "http") -> Message:
    return {
        "type": kind, "method": "POST", "path": path, "query_string": b"",
        "headers": list(headers), "client": ("203.0.113.5", 4711), "state": {},
    }  # fmt: skip


async def call(app: Any, scope: Message, *incoming: Message) -> list[Message]:
    sent: list[Message] = []
    waiting = list(incoming)

    async def receive() -> Message:
        return waiting.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent


async def _unreached(*_: object) -> None:
    raise AssertionError("not reached")


def test_a_request_refused_before_django_is_logged_too(lines: Lines) -> None:
    app = observe_requests(require_whole_bodies(_unreached, file_limit=9, known=lambda _: False))
    scope = scope_of("/api/v1/projects/", (b"content-length", b"99999999999"))
    sent = asyncio.run(call(app, scope, {"type": "http.disconnect"}))
    names = dict(sent[0]["headers"])
    (line,) = lines.json("labelhub.access")
    assert (line["status"], line["route"], line["address"]) == (413, "none", "203.0.113.5")
    assert names[b"x-request-id"].decode() == line["request_id"]
    assert line["request_id"] in sent[1]["body"].decode()


def test_a_client_that_leaves_during_its_upload_is_logged_as_499(lines: Lines) -> None:
    app = observe_requests(require_whole_bodies(_unreached, file_limit=9, known=lambda _: False))
    scope = scope_of("/p/a/import/", (b"content-length", b"9"))
    assert asyncio.run(call(app, scope, {"type": "http.disconnect"})) == []
    assert [line["status"] for line in lines.json("labelhub.access")] == [499]


@pytest.mark.parametrize(
    ("path", "code", "logger", "route"),
    [
        ("/ws/v1/widget/", 1000, "labelhub.access", "widget"),
        ("/ws/v1/runs/7/", 4403, "labelhub.security", "run"),
    ],
)
def test_sockets_are_logged_at_their_end(
    lines: Lines, path: str, code: int, logger: str, route: str
) -> None:
    async def app(_scope: Message, _receive: Any, send: Any) -> None:
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close", "code": code})

    asyncio.run(call(observe_sockets(app), scope_of(path, kind="websocket")))
    (line,) = lines.json(logger, "socket")
    assert (line["route"], line["code"], line["address"]) == (route, code, "203.0.113.5")


def test_texts_and_labels_of_items_are_in_no_line(lines: Lines) -> None:
    project = ProjectFactory.create()
    (item,) = queued_items(project, 1)
    item.text = TEXT
    item.save()
    browser = member_browser(project, Role.MANAGER)
    logging.getLogger("apps").setLevel(logging.DEBUG)
    try:
        page = browser.get(f"/p/{project.slug}/review/")
        assert "breakfast" in page.text
        browser.post(f"/p/{project.slug}/import/", {"rows": TEXT})
        browser.get(f"/p/{project.slug}/search/?q=breakfast")
    finally:
        logging.getLogger("apps").setLevel(logging.WARNING)
    assert lines.json("labelhub.access")
    assert "breakfast" not in lines.text
