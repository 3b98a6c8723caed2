"""The socket of a run's page: members hear that it moved, strangers are turned away."""

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.accounts.sessions import end_sessions
from apps.debates import consumers, events
from apps.debates.consumers import websocket_urlpatterns
from apps.debates.models import Run
from apps.projects.services import remove_member
from tests.factories.accounts import UserFactory
from tests.factories.debates import project_with_items, started_run
from tests.factories.projects import member

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run() -> Run:
    return started_run(project_with_items(1))


@sync_to_async
def socket(run_id: int, user: Any) -> ApplicationCommunicator:
    """A browser's side of the socket. (Channels' own test client wants a server we do not use.)"""
    path = f"/ws/v1/runs/{run_id}/"
    client = Client()
    if not user.is_anonymous:
        client.force_login(user)
    scope = {
        "type": "websocket", "path": path, "headers": [], "subprotocols": [],
        "user": user, "session": client.session,
    }  # fmt: skip
    return ApplicationCommunicator(URLRouter(websocket_urlpatterns), scope)


async def accepted(talk: ApplicationCommunicator) -> bool:
    await talk.send_input({"type": "websocket.connect"})
    return bool((await talk.receive_output())["type"] == "websocket.accept")


async def heard(talk: ApplicationCommunicator) -> Any:
    return json.loads((await talk.receive_output())["text"])


@pytest.fixture
def viewer(run: Run) -> Any:
    return member(run.project, Role.VIEWER)


@pytest.fixture
def operator() -> Any:
    return UserFactory.create(is_superuser=True)


@pytest.fixture
def stranger() -> Any:
    return UserFactory.create()


def closed(code: int) -> dict[str, Any]:
    return {"type": "websocket.close", "code": code}


async def closing_code(talk: ApplicationCommunicator) -> int:
    assert await accepted(talk)
    message = await talk.receive_output()
    assert message["type"] == "websocket.close"
    return int(message["code"])


async def test_a_member_hears_at_once_and_whenever_the_run_moves(run: Run, viewer: Any) -> None:
    talk = await listening(run, viewer)
    events.announce_run(run.pk)
    assert await heard(talk) == {"type": "changed"}
    events.announce_run(run.pk + 1)
    assert await talk.receive_nothing()
    await talk.send_input({"type": "websocket.receive", "text": "not json"})
    assert await talk.receive_nothing()
    await talk.send_input({"type": "websocket.disconnect", "code": 1000})
    await talk.wait()


async def test_strangers_and_people_not_signed_in_are_turned_away(run: Run, stranger: Any) -> None:
    assert await closing_code(await socket(run.pk, stranger)) == 4404
    assert await closing_code(await socket(run.pk, AnonymousUser())) == 4403


async def test_a_first_password_opens_no_socket(run: Run, viewer: Any) -> None:
    viewer.must_change_password = True
    await sync_to_async(viewer.save)()
    assert await closing_code(await socket(run.pk, viewer)) == 4404


async def listening(run: Run, user: Any) -> ApplicationCommunicator:
    """A socket of ``user`` that has heard how the run stands."""
    talk = await socket(run.pk, user)
    assert await accepted(talk)
    assert await heard(talk) == {"type": "changed"}
    return talk


async def test_who_was_removed_hears_no_more(
    run: Run, viewer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "CHECK_EVERY", 0)
    talk = await listening(run, viewer)
    await sync_to_async(remove_member)(project=run.project, user=viewer, actor=None)
    events.announce_run(run.pk)
    assert await talk.receive_output() == closed(consumers.NOT_FOUND)


async def test_who_was_switched_off_hears_no_more(
    run: Run, operator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The socket still carries the person as they were when they opened it."""
    monkeypatch.setattr(consumers, "CHECK_EVERY", 0)
    talk = await listening(run, operator)
    await sync_to_async(User.objects.filter(pk=operator.pk).update)(is_active=False)
    events.announce_run(run.pk)
    assert await talk.receive_output() == closed(consumers.NOT_FOUND)


async def test_a_quiet_socket_closes_after_its_session_has_ended(
    run: Run, viewer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "CHECK_EVERY", 0)
    monkeypatch.setattr(consumers, "WATCH_EVERY", 0.05)
    talk = await listening(run, viewer)
    assert await talk.receive_nothing(0.2)
    await sync_to_async(end_sessions)(viewer)
    assert await talk.receive_output() == closed(consumers.NOT_FOUND)


@pytest.mark.thorough
async def test_rights_are_looked_up_once_in_a_while(
    run: Run, viewer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    def look(user: Any, run_id: int) -> bool:
        looked.append(run_id)
        return True

    monkeypatch.setattr(consumers, "may_watch", look)
    talk = await listening(run, viewer)
    for _ in range(3):
        events.announce_run(run.pk)
        assert await heard(talk) == {"type": "changed"}
    assert looked == [run.pk]
    assert consumers.CHECK_EVERY <= 30


def test_a_dead_layer_is_logged_and_stops_nobody(
    run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def dead() -> None:
        raise ConnectionError

    monkeypatch.setattr("apps.debates.events.get_channel_layer", dead)
    events.announce_run(run.pk)
    assert f"did not take a message about run {run.pk}" in caplog.text
