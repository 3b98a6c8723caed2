"""The drill: a new employee signs in by the company, works by their groups, and leaves."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from asgiref.sync import async_to_sync
from asgiref.testing import ApplicationCommunicator
from channels.routing import URLRouter
from django.conf import LazySettings
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey, User
from apps.accounts.operations import disconnect_provider
from apps.accounts.services import change_user, create_api_key
from apps.debates.consumers import websocket_urlpatterns
from apps.debates.models import Run
from apps.projects.group_roles import set_group_role
from tests.accounts.test_oidc import ADA, sign_in
from tests.factories.accounts import UserFactory, browser_of
from tests.factories.debates import project_with_items, started_run
from tests.fakes.oidc_provider import Provider, oidc_provider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def provider(settings: LazySettings) -> Iterator[Provider]:
    with oidc_provider() as running:
        settings.LABELHUB_OIDC = running.settings()
        settings.SOCIALACCOUNT_REQUESTS_TIMEOUT = 60
        cache.clear()
        yield running


class Employee:
    """Ada, of the group labelers: what she may see in the project of a run."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.run: Run = started_run(project_with_items(1))
        set_group_role(
            project=self.run.project, group="labelers", role="reviewer", kind="crowd", actor=None
        )
        self.browser = Client()
        self.sign_in(["labelers"])
        self.user = User.objects.get(email=ADA["email"])
        self.key, self.plain = create_api_key(user=self.user, name="script")

    def sign_in(self, groups: list[str], browser: Client | None = None) -> Any:
        """Come back from the provider, which puts her in these groups."""
        self.provider.person = {**ADA, "groups": groups}
        return sign_in(browser or self.browser)

    def opens(self) -> tuple[bool, bool, bool]:
        """Whether the page, the socket and REST of the project open, as things are now."""
        slug = self.run.project.slug
        page = self.browser.get(f"/p/{slug}/review/").status_code == 200
        rest = APIClient(HTTP_X_API_KEY=self.plain).get(f"/api/v1/projects/{slug}/")
        return page, async_to_sync(self._watches)(), rest.status_code == 200

    async def _watches(self) -> bool:
        scope = {
            "type": "websocket", "path": f"/ws/v1/runs/{self.run.pk}/", "headers": [],
            "subprotocols": [], "user": self.user, "session": self.browser.session,
        }  # fmt: skip
        socket = ApplicationCommunicator(URLRouter(websocket_urlpatterns), scope)
        await socket.send_input({"type": "websocket.connect"})
        await socket.receive_output()
        answer = await socket.receive_output()
        await socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await socket.wait()
        return bool(answer["type"] == "websocket.send")


@pytest.fixture
def ada(provider: Provider) -> Employee:
    employee = Employee(provider)
    assert employee.opens() == (True, True, True)
    return employee


def test_taken_out_of_the_group_they_lose_what_it_gave(ada: Employee) -> None:
    assert ada.sign_in([], Client())["Location"] == "/start/"
    assert ada.opens() == (False, False, False)
    assert ada.browser.get("/keys/").status_code == 200
    ada.sign_in(["labelers"])
    assert ada.opens() == (True, True, True)


def test_taken_out_of_the_groups_that_may_sign_in_they_lose_everything_for_good(
    ada: Employee, settings: LazySettings
) -> None:
    settings.LABELHUB_SSO_ALLOWED_GROUPS = ["labelers", "staff"]
    assert ada.sign_in([], Client()).status_code == 403
    assert ada.opens() == (False, False, False)
    ada.sign_in(["labelers"])
    assert ada.opens() == (True, True, False)  # a key does not come back


def test_signed_out_by_the_provider_they_are_out_at_once(ada: Employee) -> None:
    token = ada.provider.logout_token("ada-1")
    assert Client().post("/accounts/oidc/logout/", {"logout_token": token}).status_code == 200
    assert ada.opens() == (False, False, True)


def test_deactivated_here_they_are_out_at_once(ada: Employee) -> None:
    operator = UserFactory.create(is_superuser=True)
    change_user(user=ada.user, actor=operator, is_active=False)
    assert ada.opens() == (False, False, False)


def test_whom_the_provider_no_longer_lets_in_their_keys_outlast_by_so_many_days(
    ada: Employee, settings: LazySettings
) -> None:
    """Nobody tells this server of them: no SCIM, no sign-in, no sign-out."""
    url, identity = "/api/v1/keys/", SocialAccount.objects.filter(user=ada.user)
    robot, operator = UserFactory.create(), UserFactory.create(is_superuser=True)
    robots = APIClient(HTTP_X_API_KEY=create_api_key(user=robot, name="robot").plain)
    client = APIClient(HTTP_X_API_KEY=ada.plain)
    days = timedelta(days=1)
    for limit, absent, status in ((0, 999, 200), (7, 6, 200), (7, 8, 401)):
        settings.LABELHUB_SSO_KEY_DAYS = limit
        identity.update(last_login=timezone.now() - absent * days)
        assert client.get(url).status_code == status
        assert robots.get(url).status_code == 200
    refused = client.get(url)
    assert refused.json()["code"] == "sign_in_required"
    assert "7 days" in refused.json()["detail"]
    assert browser_of(operator).get("/api/v1/keys/").json()["count"] == 2
    ada.sign_in(["labelers"])
    assert client.get(url).status_code == 200
    assert ApiKey.objects.active().filter(user=ada.user).exists()
    identity.update(last_login=timezone.now() - 8 * days)
    disconnect_provider(ada.user)  # which must not wake the keys that rest
    assert client.get(url).status_code == 401
    assert robots.get(url).status_code == 200
