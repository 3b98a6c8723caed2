"""Sign-ins and ways in, in the audit log and in metrics, as libraries and models signal them."""

from collections.abc import Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db import transaction
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.http import HttpRequest

from apps.accounts.models import User
from apps.accounts.selectors import find_user
from apps.common.audit import Action, acting, record
from apps.common.metrics import SIGN_INS

#: Rows that let a person in: what to record when one is added, and removed, and its kind.
WAYS_IN = {
    Authenticator: (Action.SECOND_STEP_ADDED, Action.SECOND_STEP_REMOVED, "type"),
    SocialAccount: (Action.IDENTITY_CONNECTED, Action.IDENTITY_REMOVED, "provider"),
}


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
    typed = str(credentials.get("username") or credentials.get("email") or "")
    with acting(request):
        record_refusal(find_user(typed) if typed else None)


def record_refusal(user: User | None) -> None:
    """Somebody, or ``user``, was not let in."""
    SIGN_INS.labels("failed").inc()
    with transaction.atomic():
        record(Action.SIGN_IN_FAILED, user)


def _record_way_in(sender: type, instance: Any, *, created: bool | None = None, **_: Any) -> None:
    """``created`` is None after a deletion."""
    added, removed, kind = WAYS_IN[sender]
    change = (None, getattr(instance, kind)) if created else (getattr(instance, kind), None)
    if created is not False:
        with transaction.atomic():
            record(added if created else removed, instance.user, changes={"kind": change})


for _model in WAYS_IN:
    post_save.connect(_record_way_in, sender=_model)
    post_delete.connect(_record_way_in, sender=_model)
