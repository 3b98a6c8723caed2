"""Tells people that the work they started has ended: in the page, and by e-mail if they want it."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from smtplib import SMTPRecipientsRefused, SMTPResponseException
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation

from apps.accounts.models import User
from apps.common.jobs import JobRun, Postponed, job, start_job
from apps.projects.models import Notification, Project

logger = logging.getLogger(__name__)

KIND = "projects.mail"
#: How long a notification is listed.
KEPT = timedelta(weeks=6)
#: How long a dead mail server is tried, and the shortest and longest pause between two attempts.
TRIED = timedelta(days=1)
PAUSES = (timedelta(seconds=30), timedelta(hours=1))


def notify_end(
    *,
    user_id: int | None,
    project: Project,
    kind: Notification.Kind,
    subject: int,
    began_at: datetime,
    outcome: Notification.Outcome,
    message: str,
    name: str = "",
) -> None:
    """Tell the person who started the work; call it in the transaction that ends the work.

    Nobody is told of work that a command started, and nobody twice.

    Args:
        subject: id of the run, import or saved export.
        began_at: when it was started or last resumed: each start has one end.
    """
    if user_id is None:
        return
    user = User.objects.filter(pk=user_id, is_active=True).first()
    if user is None:
        return
    row, created = Notification.objects.get_or_create(
        user=user,
        kind=kind,
        subject=subject,
        began_at=began_at,
        defaults={"project": project, "outcome": outcome, "message": message, "name": name},
    )
    if not created:
        return
    Notification.objects.filter(user=user, created_at__lt=timezone.now() - KEPT).delete()
    if wants_mail(user):
        start_job(KIND, row.pk)


def wants_mail(user: User) -> bool:
    return bool(settings.LABELHUB_SENDS_MAIL and user.email and user.notify_by_email)


def mark_read(user: User, ids: Sequence[int] | None = None) -> None:
    """Mark these notifications of ``user`` as read; None: all of them."""
    rows = Notification.objects.filter(user=user, read_at=None)
    (rows if ids is None else rows.filter(pk__in=ids)).update(read_at=timezone.now())


def page_of(row: Notification) -> str:
    slug = row.project.slug
    if row.kind == Notification.Kind.RUN:
        return reverse("run_detail", args=[slug, row.subject])
    if row.kind == Notification.Kind.IMPORT:
        return reverse("import_detail", args=[slug, row.subject])
    return reverse("saved_list", args=[slug])


# In a thread of its own: a mail server that hangs delays no other work.
@job(KIND, threads=1, outward=True)
def mail_notification(run: JobRun) -> None:
    """Send one notification by e-mail, at most once.

    It is marked as sent before it is sent: a worker that is killed in between leaves a person
    without an e-mail rather than with two. While the server does not take it, it is tried again.
    """
    rows = Notification.objects.select_related("user", "project")
    row = rows.filter(pk=run.subject, mailed_at=None).first()
    if row is None or not wants_mail(row.user):
        return
    if not Project.objects.visible_to(row.user).filter(pk=row.project_id).exists():
        return
    age = timezone.now() - row.created_at
    if age > TRIED:
        logger.warning("Notification %s could not be sent by e-mail within a day", row.pk)
        return
    pause = min(max(age, PAUSES[0]), PAUSES[1])
    message, connection = _message(row), get_connection()
    try:
        connection.open()
    except OSError as error:  # of the network or the mail server
        raise Postponed(str(error), pause) from error
    try:
        with run.chunk():
            Notification.objects.filter(pk=row.pk).update(mailed_at=timezone.now())
        connection.send_messages([message])
    except (SMTPResponseException, SMTPRecipientsRefused) as error:
        with run.chunk(closing=True):
            Notification.objects.filter(pk=row.pk).update(mailed_at=None)
        raise Postponed(str(error), pause) from error
    finally:
        connection.close()


def _message(row: Notification) -> EmailMessage:
    context = {
        "row": row,
        "page": f"{settings.LABELHUB_URL}{page_of(row)}" if settings.LABELHUB_URL else "",
    }
    with translation.override(row.user.language or settings.LANGUAGE_CODE):
        return write_mail("projects/mail/ended.txt", context, to=row.user.email)


def write_mail(template: str, context: Mapping[str, Any], *, to: str) -> EmailMessage:
    """An e-mail in the active language; the first line of the template is the subject."""
    subject, _, body = render_to_string(template, dict(context)).partition("\n")
    return EmailMessage(" ".join(subject.split()), body.strip() + "\n", to=[to])
