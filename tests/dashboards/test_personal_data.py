"""What is stored of a user: given to them, and erased."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from apps.accounts.directory import set_groups
from apps.accounts.identities import Claims, sign_in_identity
from apps.accounts.models import ApiKey, GroupMember, User
from apps.accounts.roles import Role
from apps.accounts.services import create_api_key
from apps.common.audit import check_chain, seal_entries
from apps.common.models import AuditEntry, AuditPerson, IdempotentRequest
from apps.dashboards.personal_data import erase_user, user_data
from apps.exchange.models import SavedExport
from apps.labels.models import Label
from apps.projects.models import Membership, Notification
from apps.reviews.models import Comment, Mention
from labelhub.core.errors import Conflict
from tests.factories.accounts import UserFactory, browser_of
from tests.factories.projects import invited, member
from tests.factories.reviews import answer, claim, new_project, suggested_items
from tests.threads import at_once

pytestmark = pytest.mark.django_db
NAME, MAIL = "ada.lovelace", "ada@lovelace.example"


@pytest.fixture
def ada() -> User:
    """A reviewer with something of everything."""
    project = new_project()
    boss = member(project, Role.MANAGER)
    user = member(project, Role.REVIEWER)
    User.objects.filter(pk=user.pk).update(
        username=NAME, email=MAIL, first_name="Ada", last_name="Lovelace"
    )
    user.refresh_from_db()
    suggested_items(project, 1)
    answer(claim(project, user), user, "good")
    item = project.items.get()
    comment = Comment.objects.create(
        project=project, item=item, author=boss, text=f"Ask @{NAME}. Not @{NAME}.second."
    )
    Mention.objects.create(comment=comment, user=user)
    Comment.objects.create(project=project, item=item, author=user, text="I am unsure.")
    Notification.objects.create(
        user=user, project=project, kind="run", subject=1, outcome="done",
        began_at=comment.created_at,
    )  # fmt: skip
    create_api_key(user=user, name="script")
    invited(project, email=MAIL)
    SavedExport.objects.create(
        project=project, format="csv", file_name="a.csv", status="done", stored_name="a"
    )
    LogEntry.objects.create(
        user=boss, content_type=ContentType.objects.get_for_model(User), object_id=str(user.pk),
        object_repr=NAME, action_flag=CHANGE,
    )  # fmt: skip
    browser_of(user)
    User.objects.filter(pk=user.pk).update(scim_name=MAIL, scim_external_id="Lovelace-1")
    SocialAccount.objects.create(user=user, provider="https://id.example", uid="Lovelace-1")
    Authenticator.objects.create(user=user, type="totp", data={"secret": "sealed"})
    UserSession.objects.create(
        user=user, session_key="k", ip="127.0.0.1", user_agent="Firefox",
        last_seen_at=timezone.now(),
    )  # fmt: skip
    set_groups(user, ["labelers"], GroupMember.Source.SCIM)
    IdempotentRequest.objects.create(
        user=user, key=NAME, token=uuid4(), fingerprint="f", started_at=timezone.now(), body=b"x"
    )
    user.refresh_from_db()
    return user


def everything() -> str:
    """All rows of all tables as text."""
    with connection.cursor() as cursor:
        found = []
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - ours
            found += [str(row) for row in cursor.fetchall()]
    return "\n".join(found)


def test_the_file_has_everything_about_them(ada: User) -> None:
    answered = browser_of(ada).get("/my-data/file/")
    assert "attachment" in answered["Content-Disposition"]
    data = answered.json()
    assert (data["account"]["username"], data["account"]["email"]) == (NAME, MAIL)
    lengths = {name: len(rows) for name, rows in data.items() if name != "account"}
    assert lengths == {
        "memberships": 1, "api_keys": 1, "sessions": 2, "invitations": 1, "notifications": 1,
        "comments": 1, "mentions": 1, "drafts": 0, "labels": 1, "audit_log": 5,
        "devices": 1, "second_steps": 1, "identities": 1, "groups": 1,
    }  # fmt: skip
    assert data["labels"][0]["value"] == "good"
    assert [entry["action"] for entry in data["audit_log"]] == [
        "session.started", "identity.connected", "second_step.added", "session.started",
        "user.exported",
    ]  # fmt: skip
    assert ApiKey.objects.get().digest not in answered.content.decode()


def test_erased_are_name_address_and_all_that_is_theirs_but_the_labels(ada: User) -> None:
    seal_entries()
    pseudonym = erase_user(ada)
    assert pseudonym == f"former-annotator-{ada.pk}"
    assert Label.objects.get(annotator__user=ada).annotator.name == pseudonym
    ada.refresh_from_db()
    assert (ada.username, ada.email, ada.first_name, ada.is_active) == (pseudonym, "", "", False)
    assert not ada.has_usable_password()
    for model in (
        ApiKey, Notification, Mention, SocialAccount, Authenticator, UserSession, GroupMember,
        IdempotentRequest,
    ):  # fmt: skip
        assert not model.objects.exists(), model
    assert not Membership.objects.filter(user=ada).exists()
    assert not Session.objects.exists()
    assert Comment.objects.filter(text=f"Ask @{pseudonym}. Not @{NAME}.second.").exists()
    Comment.objects.update(text="")
    left = everything()
    assert [word for word in (NAME, MAIL, "Lovelace", "127.0.0.1") if word in left] == []
    assert SavedExport.objects.get().status == SavedExport.Status.STALE
    seal_entries()
    check_chain()


def test_who_signs_in_by_the_company_after_an_erasure_is_somebody_new(ada: User) -> None:
    claims = Claims("https://id.example", "Lovelace-1", email=MAIL, email_verified=True)
    assert sign_in_identity(claims) == ada
    pseudonym = erase_user(ada)
    again = sign_in_identity(claims)
    assert (again.pk != ada.pk, again.email) == (True, MAIL)
    ada.refresh_from_db()
    assert (ada.username, ada.email, ada.is_active) == (pseudonym, "", False)


def test_the_page_asks_for_the_name_and_signs_out(ada: User) -> None:
    browser = browser_of(ada)
    assert browser.post("/my-data/erase/", {"typed": "ada"}).status_code == 422
    assert User.objects.filter(username=NAME).exists()
    assert browser.post("/my-data/erase/", {"typed": NAME})["Location"] == "/accounts/login/"
    assert settings.SESSION_COOKIE_NAME not in browser.cookies or not Session.objects.exists()
    assert not User.objects.filter(username=NAME).exists()
    assert not AuditPerson.objects.filter(user_id=ada.pk).exclude(key="").exists()


def test_the_last_operator_and_the_last_manager_are_not_erased() -> None:
    operator = UserFactory.create(is_superuser=True)
    with pytest.raises(Conflict, match="last operator"):
        erase_user(operator)
    UserFactory.create(is_superuser=True)
    erase_user(operator)
    with pytest.raises(Conflict, match="erased already"):
        erase_user(User.objects.get(pk=operator.pk))
    manager = member(new_project(), Role.MANAGER)
    with pytest.raises(Conflict, match="last manager"):
        erase_user(manager)
    assert User.objects.get(pk=manager.pk).is_active


@pytest.mark.django_db(transaction=True)
def test_of_two_operators_who_erase_each_other_one_stays() -> None:
    people = UserFactory.create_batch(2, is_superuser=True)

    def erase(number: int) -> bool:
        try:
            erase_user(people[number])
        except Conflict:
            return False
        return True

    assert sorted(at_once(erase, 2)) == [False, True]
    assert User.objects.filter(is_superuser=True, is_active=True).count() == 1


def test_a_failure_in_the_middle_erases_nothing(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr("apps.dashboards.personal_data.erase_person", fail)
    with pytest.raises(RuntimeError, match="killed"):
        erase_user(ada)
    assert user_data(User.objects.get(pk=ada.pk))["account"]["username"] == NAME
    assert not AuditEntry.objects.filter(action="user.erased").exists()


def test_the_commands_of_operators(ada: User, tmp_path: Path) -> None:
    target = tmp_path / "ada.json"
    call_command("export_user", NAME, "--output", str(target))
    assert json.loads(target.read_text())["account"]["email"] == MAIL
    assert target.stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError, match=f"--confirm {NAME}"):
        call_command("erase_user", NAME)
    call_command("erase_user", NAME, "--confirm", NAME)
    assert not User.objects.filter(username=NAME).exists()
    entry = AuditEntry.objects.get(action="user.erased")
    assert entry.via == "command erase_user"
