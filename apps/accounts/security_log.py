"""Log sign-ins, failed ones too, and what operators delete in the console."""

from collections.abc import Mapping
from typing import Any

import structlog
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.db.models import Q
from django.db.models.signals import post_save
from django.dispatch import receiver

from apps.accounts.models import User
from apps.common.metrics import SIGN_INS
from apps.common.security_log import SECURITY

security = structlog.get_logger(SECURITY)

UNKNOWN = "(no such account)"


@receiver(user_logged_in)
def _note_sign_in(user: User, **_: Any) -> None:
    SIGN_INS.labels("ok").inc()
    security.info("signed in", user=user.get_username(), user_id=user.pk)


@receiver(user_login_failed)
def _note_failure(credentials: Mapping[str, Any], **_: Any) -> None:
    """People type passwords into the field of the name: only a name that exists is logged."""
    given = [str(credentials[name]) for name in ("username", "email") if credentials.get(name)]
    known = Q(username__in=given)
    for name in given:
        known |= Q(email__iexact=name)
    user = User.objects.filter(known).first() if given else None
    SIGN_INS.labels("failed").inc()
    security.warning(
        "sign-in failed",
        user=user.get_username() if user else UNKNOWN,
        user_id=user.pk if user else None,
    )


@receiver(post_save, sender=LogEntry)
def _note_deletion(instance: LogEntry, created: bool, **_: Any) -> None:  # noqa: FBT001 - Django's
    if created and instance.action_flag == DELETION:
        kind = instance.content_type.model if instance.content_type else ""
        security.info(
            "deleted in the console",
            kind=kind,
            object_id=instance.object_id,
            user=instance.user.get_username(),
        )
