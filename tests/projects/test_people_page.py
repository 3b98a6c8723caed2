"""/p/<slug>/people/: members and invitations."""

from typing import Any

import pytest
from django.conf import LazySettings
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import translation

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Invitation, Project
from apps.projects.notifications import write_mail
from apps.projects.selectors import reviewer_kind, role_in
from tests.factories.accounts import UserFactory
from tests.factories.projects import ProjectFactory, invited, member

pytestmark = pytest.mark.django_db
URL = "/p/hotels/people/"


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotels")


@pytest.fixture
def boss(project: Project) -> User:
    return member(project, Role.MANAGER)


@pytest.fixture
def manager(client: Client, boss: User) -> Client:
    client.force_login(boss)
    return client


def invite(manager: Client, **fields: Any) -> Any:
    """The form's answer, and the page after it."""
    sent = {"to": "", "role": "viewer", "kind": "expert", "uses": 1, "days": 7} | fields
    named = {f"invite-{name}": value for name, value in sent.items()}
    return manager.post(f"{URL}invite/", named, follow=True)


def test_a_large_team_takes_no_more_queries(
    manager: Client, project: Project, django_assert_num_queries: Any
) -> None:
    others = [member(project, Role.REVIEWER) for _ in range(6)]
    for number in range(6):
        invited(project, f"token-{number}")
    # session, person, bell, project, members, what the person and their groups may, invitations
    with django_assert_num_queries(10):
        page = manager.get(URL).content.decode()
    assert all(user.username in page for user in others)


def test_somebody_is_added_by_user_name(manager: Client, project: Project) -> None:
    ada = UserFactory.create(username="ada")
    assert "is now a member" in invite(manager, to="ada").content.decode()
    assert role_in(ada, project) is Role.VIEWER
    assert reviewer_kind(ada, project) is ReviewerKind.EXPERT


def test_nobody_and_members_cannot_be_added(manager: Client, boss: User) -> None:
    nobody = invite(manager, to="nobody")
    assert nobody.status_code == 422
    assert "There is no account with that user name" in nobody.content.decode()
    assert "is already a member" in invite(manager, to=boss.username).content.decode()


def test_a_link_is_shown_once(manager: Client) -> None:
    answer = invite(manager, role="reviewer", uses=30)
    link, page = answer.context["link"], answer.content.decode()
    assert answer.redirect_chain == [(URL, 302)]
    assert "no-store" in answer["Cache-Control"]
    assert page.count(link) == 1
    assert "Link for 30 people" in page
    assert link not in manager.get(URL).content.decode()
    assert link.rsplit("/", 2)[1] not in str(Invitation.objects.values().get())


@pytest.mark.parametrize(
    "wrong", [{"role": "boss"}, {"uses": 0}, {"uses": 501}, {"days": 0}, {"days": 91}]
)
def test_a_refused_invitation_leaves_nothing(manager: Client, wrong: dict[str, Any]) -> None:
    assert invite(manager, **wrong).status_code == 422
    assert not Invitation.objects.exists()


def test_an_invitation_by_mail_says_the_same_of_any_address(
    manager: Client, mailoutbox: list[EmailMessage], settings: LazySettings
) -> None:
    settings.LABELHUB_SENDS_MAIL = True
    UserFactory.create(email="known@example.org")
    known, new = (
        invite(manager, to=address).content.decode()
        for address in ("known@example.org", "new@example.org")
    )
    assert "An invitation is on its way to known@example.org." in known
    assert "An invitation is on its way to new@example.org." in new
    assert [mail.to for mail in mailoutbox] == [["known@example.org"], ["new@example.org"]]
    assert "http://testserver/join/" in mailoutbox[0].body
    assert "/join/" not in known


def test_an_invitation_speaks_the_language_of_the_invited_or_else_of_the_inviting(
    manager: Client, monkeypatch: pytest.MonkeyPatch, settings: LazySettings
) -> None:
    settings.LABELHUB_SENDS_MAIL, spoken = True, []

    def write(template: str, context: Any, *, to: str) -> EmailMessage:
        spoken.append(translation.get_language())
        return write_mail(template, context, to=to)

    monkeypatch.setattr("apps.projects.invitations.write_mail", write)
    UserFactory.create(email="known@example.org", language="es")
    manager.cookies["labelhub_language"] = "de"
    for address in ("known@example.org", "new@example.org"):
        invite(manager, to=address)
    assert spoken == ["es", "de"]


def test_a_server_without_mail_says_so(
    manager: Client, mailoutbox: list[EmailMessage], settings: LazySettings
) -> None:
    settings.LABELHUB_SENDS_MAIL = False
    assert "hand over a link instead" in invite(manager, to="ada@example.org").content.decode()
    settings.LABELHUB_SENDS_MAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    assert "does not take the e-mail" in invite(manager, to="ada@example.org").content.decode()
    assert not Invitation.objects.exists()


def test_invitations_are_listed_with_their_state_and_revoked(
    manager: Client, project: Project
) -> None:
    invitation = invited(project, email="ada@example.org")
    assert "Invited" in manager.get(URL).content.decode()
    manager.post(f"{URL}invitations/{invitation.pk}/revoke/")
    page = manager.get(URL).content.decode()
    assert "ada@example.org" in page
    assert "Revoked" in page


def test_a_role_is_changed(manager: Client, project: Project) -> None:
    user = member(project, Role.VIEWER)
    manager.post(f"{URL}{user.pk}/", {"role": "reviewer", "kind": "expert"})
    assert role_in(user, project) is Role.REVIEWER
    assert manager.post(f"{URL}{user.pk}/", {"role": "boss", "kind": "x"}).status_code == 422


def test_a_change_in_place_can_be_undone(manager: Client, project: Project) -> None:
    user = member(project, Role.VIEWER)
    place = {"role": "reviewer", "kind": "expert"}
    answer = manager.post(f"{URL}{user.pk}/", place, headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert f'<tr id="member-{user.pk}">' in page
    assert "is now Reviewer, Expert" in page
    assert '{"role": "viewer", "kind": "crowd"}' in page


def test_a_refused_change_in_place_shows_the_role_as_it_is(
    client: Client, project: Project
) -> None:
    boss = member(project, Role.MANAGER)
    client.force_login(UserFactory.create(is_superuser=True))
    place = {"role": "viewer", "kind": "crowd"}
    answer = client.post(f"{URL}{boss.pk}/", place, headers={"HX-Request": "true"})
    page = answer.content.decode()
    assert '<option value="manager" selected>' in page
    assert "A project needs a manager" in page
    assert "Undo" not in page


def test_somebody_is_removed(manager: Client, project: Project) -> None:
    user = member(project, Role.VIEWER)
    manager.post(f"{URL}{user.pk}/remove/")
    assert role_in(user, project) is None
