"""Where a person is signed in, and ending it."""

import pytest
from allauth.usersessions.models import UserSession
from django.core.cache import cache
from django.test import Client

from apps.accounts.models import User
from apps.accounts.sessions import device
from tests.factories.accounts import PASSWORD, UserFactory, act_in_console, browser_of

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CHROME = (
    "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Mobile Safari/537.36"
)


@pytest.fixture
def ada() -> User:
    return UserFactory.create(username="ada")


def signed_in(user: User, agent: str = FIREFOX) -> Client:
    client = Client(headers={"user-agent": agent})
    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    assert client.get("/keys/").status_code == 200
    return client


def is_in(client: Client) -> bool:
    return client.get("/keys/").status_code == 200


def test_devices_are_named_as_people_call_them() -> None:
    cases = {
        FIREFOX: ("Firefox", "Linux"),
        CHROME: ("Chrome", "Android"),
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605": (
            "Safari", "macOS",
        ),
        "Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0": ("Edge", "Windows"),
        "curl/8": ("", ""),
    }  # fmt: skip
    assert {agent: tuple(device(agent)) for agent in cases} == cases


def test_a_person_sees_their_sessions_and_ends_one(ada: User) -> None:
    here, phone = signed_in(ada), signed_in(ada, CHROME)
    signed_in(UserFactory.create(username="eve"), "curl/8")
    page = here.get("/accounts/sessions/").content.decode()
    assert "Firefox on Linux" in page
    assert "Chrome on Android" in page
    assert page.count("127.0.0.1") >= 2
    assert "Unknown device" not in page
    row = UserSession.objects.get(user_agent=CHROME)
    here.post(f"/accounts/sessions/{row.pk}/end/")
    assert (is_in(here), is_in(phone)) == (True, False)


def test_nobody_ends_a_session_of_somebody_else(ada: User) -> None:
    hers = signed_in(ada)
    eve = signed_in(UserFactory.create(username="eve"))
    row = UserSession.objects.get(user=ada)
    assert eve.post(f"/accounts/sessions/{row.pk}/end/").status_code == 404
    assert is_in(hers)


def test_all_others_end_at_once_also_such_that_are_not_listed(ada: User) -> None:
    here, phone, unlisted = signed_in(ada), signed_in(ada, CHROME), browser_of(ada)
    here.post("/accounts/sessions/end/")
    assert [is_in(client) for client in (here, phone, unlisted)] == [True, False, False]
    assert "Chrome" not in here.get("/accounts/sessions/").content.decode()
    assert UserSession.objects.filter(user=ada).count() == 1


def test_a_new_password_ends_the_others(ada: User) -> None:
    here, phone = signed_in(ada), signed_in(ada, CHROME)
    new = "another-horse-8"
    fields = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    here.post("/accounts/password/change/", fields)
    assert (is_in(here), is_in(phone)) == (True, False)


def test_an_operator_ends_all_sessions_of_somebody(ada: User) -> None:
    hers, quiet = signed_in(ada), browser_of(ada)
    root = browser_of(UserFactory.create(is_superuser=True, is_staff=True))
    act_in_console(root, ada, "end_sessions")
    assert (is_in(hers), is_in(quiet)) == (False, False)


def test_use_is_noted_now_and_then(ada: User) -> None:
    client = signed_in(ada)
    first = UserSession.objects.get()
    cache.clear()
    client.get("/keys/", headers={"user-agent": CHROME}, REMOTE_ADDR="203.0.113.9")
    noted = UserSession.objects.get()
    assert noted.last_seen_at > first.last_seen_at
    assert (noted.ip, noted.user_agent) == ("203.0.113.9", CHROME)
    client.get("/keys/", REMOTE_ADDR="203.0.113.10")
    assert UserSession.objects.get().ip == "203.0.113.9"
