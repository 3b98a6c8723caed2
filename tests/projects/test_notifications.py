"""Notifications: once for each end, to the person who started it, in the page and by e-mail."""

import smtplib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.mail import EmailMessage
from django.core.mail.backends.locmem import EmailBackend
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.jobs import work_on
from apps.common.models import Job
from apps.projects.models import Notification, Project
from apps.projects.notifications import KEPT, KIND, TRIED, notify_end
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
BEGAN = timezone.now()


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create(slug="hotels", name="Hotels")


@pytest.fixture
def boss(project: Project) -> User:
    return member(project, Role.MANAGER)


@pytest.fixture
def mailing(settings: LazySettings) -> LazySettings:
    """A server that sends e-mail."""
    settings.LABELHUB_SENDS_MAIL, settings.LABELHUB_URL = True, "https://labels.example.org"
    return settings


def ended(project: Project, user: User | None, **fields: Any) -> Notification | None:
    """An import of the person that has ended; what they are told."""
    usual: dict[str, Any] = {
        "kind": Notification.Kind.IMPORT,
        "subject": 7,
        "began_at": BEGAN,
        "outcome": Notification.Outcome.DONE,
        "message": "Read 3 rows: 3 created.",
        "name": "reviews.csv",
    }
    notify_end(user_id=user.pk if user else None, project=project, **usual | fields)
    return Notification.objects.first()


def sent(row: Notification | None, mailoutbox: list[EmailMessage]) -> int:
    """How many e-mails there are after a worker's turn."""
    assert row is not None
    Job.objects.update(lease_until=None)  # its pause is over
    work_on(KIND, row.pk)
    return len(mailoutbox)


def test_each_end_is_told_once(project: Project, boss: User) -> None:
    for _ in range(2):
        ended(project, boss)
    ended(project, boss, began_at=BEGAN + timedelta(hours=1))  # resumed, and ended again
    assert (boss.notifications.count(), boss.unread_notifications) == (2, 2)


def test_nobody_is_told_of_what_a_command_started(project: Project, boss: User) -> None:
    assert ended(project, None) is None
    User.objects.filter(pk=boss.pk).update(is_active=False)
    assert ended(project, boss) is None


def test_old_ones_are_deleted(project: Project, boss: User) -> None:
    ended(project, boss, subject=1)
    Notification.objects.update(created_at=timezone.now() - KEPT - timedelta(days=1))
    ended(project, boss, subject=2)
    assert list(boss.notifications.values_list("subject", flat=True)) == [2]
    assert boss.unread_notifications == 1


@pytest.mark.parametrize(
    ("kind", "outcome", "words", "page"),
    [
        ("run", "done", "Run 7 is done", "/p/hotels/runs/7/"),
        ("run", "stopped", "Run 7 has reached its budget", "/p/hotels/runs/7/"),
        ("run", "failed", "Run 7 has stopped", "/p/hotels/runs/7/"),
        ("import", "done", "reviews.csv is imported", "/p/hotels/import/7/"),
        ("import", "failed", "The import of reviews.csv failed", "/p/hotels/import/7/"),
        ("export", "done", "reviews.csv is ready to download", "/p/hotels/export/saved/"),
        ("export", "failed", "The export reviews.csv failed", "/p/hotels/export/saved/"),
    ],
)
def test_the_page_says_what_has_ended_and_leads_there(
    client: Client, project: Project, boss: User, kind: str, outcome: str, words: str, page: str
) -> None:
    row = ended(project, boss, kind=kind, outcome=outcome)
    assert row is not None
    client.force_login(boss)
    assert words in client.get("/notifications/").content.decode()
    assert client.get(f"/notifications/{row.pk}/")["Location"] == page
    assert boss.unread_notifications == 0


def test_all_are_marked_as_read(
    client: Client,
    project: Project,
    boss: User,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for subject in (1, 2):
        ended(project, boss, subject=subject)
    client.force_login(boss)
    assert "Mark all as read" in client.get("/notifications/").content.decode()
    client.post("/notifications/read/")
    # session, user, bell; their number and those of the page
    with django_assert_num_queries(5):
        assert "Mark all as read" not in client.get("/notifications/").content.decode()


def test_only_the_own_ones_of_projects_still_open_to_them_are_shown(
    client: Client, project: Project, boss: User
) -> None:
    row = ended(project, boss)
    assert row is not None
    client.force_login(member(project, Role.MANAGER))
    assert client.get(f"/notifications/{row.pk}/").status_code == 404
    project.memberships.filter(user=boss).delete()
    assert boss.unread_notifications == 0
    client.force_login(boss)
    assert client.get(f"/notifications/{row.pk}/").status_code == 404
    assert "Hotels" not in client.get("/notifications/").content.decode()


def test_one_mail_is_sent_with_a_link(
    project: Project, boss: User, mailing: LazySettings, mailoutbox: list[EmailMessage]
) -> None:
    row = ended(project, boss)
    assert [sent(row, mailoutbox) for _ in range(2)] == [1, 1]
    assert mailoutbox[0].subject == "Hotels: reviews.csv is imported"
    assert mailoutbox[0].to == [boss.email]
    assert "Read 3 rows: 3 created." in mailoutbox[0].body
    assert "https://labels.example.org/p/hotels/import/7/" in mailoutbox[0].body


def test_who_wants_none_or_may_not_see_the_project_gets_none(
    client: Client, project: Project, boss: User, mailing: LazySettings,
    mailoutbox: list[EmailMessage],
) -> None:  # fmt: skip
    client.force_login(boss)
    first = ended(project, boss, subject=1)
    client.post("/notifications/mail/", {"to": "off"})
    assert sent(first, mailoutbox) == 0
    client.post("/notifications/mail/", {"to": "on"})
    second = ended(project, boss, subject=2)
    project.memberships.filter(user=boss).delete()
    assert sent(second, mailoutbox) == 0


def test_without_a_mail_server_no_job_is_started(project: Project, boss: User) -> None:
    ended(project, boss)
    assert not Job.objects.filter(kind=KIND).exists()


class Refusing(EmailBackend):
    """A mail server that fails in a certain way, a number of times."""

    at_open: list[OSError] = []
    at_send: list[OSError] = []

    def open(self) -> None:
        """Connect."""
        if self.at_open:
            raise self.at_open.pop()

    def send_messages(self, messages: Any) -> int:
        """Take the message first: the fault may come after it."""
        if self.at_send and isinstance(self.at_send[0], smtplib.SMTPRecipientsRefused):
            raise self.at_send.pop()
        super().send_messages(messages)
        if self.at_send:
            raise self.at_send.pop()
        return len(messages)


@pytest.fixture
def refusing(mailing: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server whose mail server does as :class:`Refusing` says."""
    monkeypatch.setattr("apps.projects.notifications.get_connection", Refusing)
    yield
    Refusing.at_open, Refusing.at_send = [], []


@pytest.mark.usefixtures("refusing")
def test_a_dead_server_is_tried_again(
    project: Project, boss: User, mailoutbox: list[EmailMessage]
) -> None:
    greylisted = smtplib.SMTPRecipientsRefused({boss.email: (450, b"try later")})
    Refusing.at_open, Refusing.at_send = [ConnectionRefusedError(), TimeoutError()], [greylisted]
    row = ended(project, boss)
    assert [sent(row, mailoutbox) for _ in range(5)] == [0, 0, 0, 1, 1]


@pytest.mark.usefixtures("refusing")
def test_a_message_that_may_have_arrived_is_not_sent_again(
    project: Project, boss: User, mailoutbox: list[EmailMessage]
) -> None:
    Refusing.at_send = [smtplib.SMTPServerDisconnected("while waiting for the answer")]
    row = ended(project, boss)
    assert [sent(row, mailoutbox) for _ in range(3)] == [1, 1, 1]
    assert not Job.objects.exists()


@pytest.mark.usefixtures("refusing")
def test_after_a_day_it_is_given_up(
    project: Project, boss: User, mailoutbox: list[EmailMessage]
) -> None:
    row = ended(project, boss)
    Notification.objects.update(created_at=timezone.now() - TRIED - timedelta(minutes=1))
    assert sent(row, mailoutbox) == 0
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("language", "words"), [("", "reviews.csv is imported"), ("de", "reviews.csv ist importiert")]
)
def test_an_e_mail_speaks_the_language_that_the_person_chose(
    project: Project,
    boss: User,
    mailing: LazySettings,
    mailoutbox: list[EmailMessage],
    language: str,
    words: str,
) -> None:
    User.objects.filter(pk=boss.pk).update(language=language, email="boss@example.org")
    assert sent(ended(project, boss), mailoutbox) == 1
    assert mailoutbox[0].subject == f"Hotels: {words}"
