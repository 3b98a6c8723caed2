"""/join/<token>/: people join a project by a link."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.projects.invitations import Unusable, create_invitation, join, revoke_invitation
from apps.projects.models import Invitation, Project
from apps.projects.selectors import reviewer_kind, role_in
from apps.projects.services import set_member
from labelhub.core.errors import Conflict
from tests.factories.accounts import PASSWORD, UserFactory, allow_accounts
from tests.factories.projects import ProjectFactory, invited, member

pytestmark = pytest.mark.django_db
URL = "/join/the-link/"
NEW = {"username": "ada", "password": PASSWORD}


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotels", name="Hotels")


@pytest.fixture
def maker(project: Project) -> User:
    """A manager whom an operator allowed to make accounts."""
    return allow_accounts(member(project, Role.MANAGER))


def test_a_new_person_chooses_name_and_password_and_is_in(
    client: Client, project: Project, maker: User
) -> None:
    invited(project, created_by=maker, kind="expert")
    page = client.get(URL)
    assert "Join Hotels" in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    assert client.post(URL, NEW)["Location"] == "/p/hotels/review/"
    ada = User.objects.get(username="ada")
    assert client.session["_auth_user_id"] == str(ada.pk)
    assert role_in(ada, project) is Role.REVIEWER
    assert reviewer_kind(ada, project) is ReviewerKind.EXPERT
    assert not ada.must_change_password


def test_only_an_invitation_by_mail_gives_an_address(
    client: Client, project: Project, maker: User
) -> None:
    invited(project, created_by=maker)
    client.post(URL, NEW)
    invited(project, "mailed", created_by=maker, email="bea@example.org")
    Client().post("/join/mailed/", {"username": "bea", "password": PASSWORD})
    emails = User.objects.filter(username__in=["ada", "bea"]).values_list("username", "email")
    assert dict(emails) == {"ada": "", "bea": "bea@example.org"}


def test_the_owner_of_a_known_address_signs_in_instead(
    client: Client, project: Project, maker: User
) -> None:
    UserFactory.create(email="bea@example.org")
    invited(project, created_by=maker, email="bea@example.org")
    page = client.get(URL).content.decode()
    assert "/accounts/login/?next=/join/the-link/" in page
    assert 'name="password"' not in page


def test_somebody_signed_in_joins_with_their_account(client: Client, project: Project) -> None:
    user = UserFactory.create()
    invited(project, role="viewer")
    client.force_login(user)
    assert f"Join as {user.display_name}" in client.get(URL).content.decode()
    assert role_in(user, project) is None
    assert client.post(URL)["Location"] == "/p/hotels/"
    assert role_in(user, project) is Role.VIEWER


def test_a_member_stays_what_they_are_and_takes_no_use(client: Client, project: Project) -> None:
    user = member(project, Role.VIEWER)
    invitation = invited(project, role="manager")
    client.force_login(user)
    client.post(URL)
    invitation.refresh_from_db()
    assert (role_in(user, project), invitation.uses) == (Role.VIEWER, 0)


def test_without_the_permission_it_makes_no_accounts(client: Client, project: Project) -> None:
    """Anybody may make a project, and so be its manager."""
    invited(project)
    assert 'name="password"' not in client.get(URL).content.decode()
    assert client.post(URL, NEW).status_code == 403
    assert not User.objects.filter(username="ada").exists()


ENDS: dict[str, tuple[str, Callable[[Invitation], Any]]] = {
    "used": ("all have joined", lambda _: Invitation.objects.update(uses=1)),
    "expired": ("has expired", lambda _: Invitation.objects.update(expires_at=timezone.now())),
    "revoked": ("was withdrawn", lambda row: revoke_invitation(invitation=row)),
    "creator-left": (
        "no longer manages",
        lambda row: User.objects.filter(pk=row.created_by_id).update(is_active=False),
    ),
    "creator-lost-the-role": (
        "no longer manages",
        lambda row: set_member(
            project=row.project, user=row.created_by, role="viewer", kind="crowd", actor=None
        ),
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_a_link_that_has_ended_says_why(
    client: Client, project: Project, maker: User, how: str
) -> None:
    member(project, Role.MANAGER)  # so that the other one may go
    words, end = ENDS[how]
    end(invited(project, created_by=maker))
    for answer in (client.get(URL), client.post(URL, NEW)):
        page = answer.content.decode()
        assert answer.status_code == 410
        assert words in page
        assert "Ask the person who sent it for a new one" in page
    assert not User.objects.filter(username="ada").exists()


def test_a_wrong_link_tells_nothing(client: Client, project: Project) -> None:
    answer = client.get("/join/of-nobody/")
    assert answer.status_code == 404
    assert "Hotels" not in answer.content.decode()


@pytest.mark.parametrize(
    "wrong", [{"username": "taken"}, {"username": "x@example.org"}, {"password": "short"}]
)
def test_a_refused_account_takes_no_use(
    client: Client, project: Project, maker: User, wrong: dict[str, str]
) -> None:
    UserFactory.create(username="taken")
    invitation = invited(project, created_by=maker)
    people = User.objects.count()
    assert client.post(URL, NEW | wrong).status_code == 422
    invitation.refresh_from_db()
    assert (invitation.uses, User.objects.count()) == (0, people)


def test_a_class_joins_until_the_link_is_used_up(project: Project) -> None:
    invitation = invited(project, uses_allowed=2)
    for _ in range(2):
        join(invitation=invitation, user=UserFactory.create())
    with pytest.raises(Unusable):
        join(invitation=invitation, user=UserFactory.create())
    with pytest.raises(IntegrityError):  # whatever the code does
        Invitation.objects.update(uses=3)


def test_guessing_is_limited(client: Client, project: Project, settings: LazySettings) -> None:
    settings.INVITATION_RATE_LIMITS = {"join": "2/m/ip"}
    statuses = [client.get(f"/join/{guess}/").status_code for guess in range(3)]
    assert statuses == [404, 404, 429]


def test_open_invitations_are_limited_and_old_ones_deleted(
    project: Project, maker: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.projects.invitations.MOST_OPEN", 1)
    old = timezone.now() - timedelta(days=31)
    ended = invited(project, "old", expires_at=old)
    place = {"project": project, "actor": maker, "role": "viewer", "kind": "crowd"}
    create_invitation(**place)  # type: ignore[arg-type]
    with pytest.raises(Conflict):
        create_invitation(**place)  # type: ignore[arg-type]
    assert not Invitation.objects.filter(pk=ended.pk).exists()
