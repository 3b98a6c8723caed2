"""Sign-ins in the audit log and in the metrics: Django signals every way to sign in."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest

from apps.accounts.models import User
from apps.accounts.selectors import find_user
from apps.common.audit import Action, acting, record
from apps.common.metrics import SIGN_INS


@receiver(user_logged_in)
def _record_sign_in(request: HttpRequest, user: User, **_: Any) -> None:
    SIGN_INS.labels("ok").inc()
    with acting(request), transaction.atomic():
        record(Action.SIGNED_IN, user, actor=user)


@receiver(user_logged_out)
def _record_sign_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        with acting(request), transaction.atomic():
            record(Action.SIGNED_OUT, user, actor=user)


@receiver(user_login_failed)
def _record_failure(
    credentials: Mapping[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    """Without the name that was typed if nobody has it: it may be a password."""
    SIGN_INS.labels("failed").inc()
    typed = str(credentials.get("username") or credentials.get("email") or "")
    with acting(request), transaction.atomic():
        record(Action.SIGN_IN_FAILED, find_user(typed) if typed else None)
