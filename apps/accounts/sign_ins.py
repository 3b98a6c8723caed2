"""Sign-ins and ways in, in the audit log and in the metrics, as the libraries signal them."""

from collections.abc import Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.signals import social_account_added
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
    typed = str(credentials.get("username") or credentials.get("email") or "")
    with acting(request):
        record_refusal(find_user(typed) if typed else None)


def record_refusal(user: User | None) -> None:
    """Somebody, or ``user``, was not let in."""
    SIGN_INS.labels("failed").inc()
    with transaction.atomic():
        record(Action.SIGN_IN_FAILED, user)


@receiver(authenticator_added)
def _record_second_step(user: User, authenticator: Authenticator, **_: Any) -> None:
    _record_step(Action.SECOND_STEP_ADDED, user, new=authenticator.type)


@receiver(authenticator_removed)
def _record_removed_step(user: User, authenticator: Authenticator, **_: Any) -> None:
    _record_step(Action.SECOND_STEP_REMOVED, user, old=authenticator.type)


@receiver(authenticator_reset)
def _record_new_codes(user: User, **_: Any) -> None:
    _record_step(Action.RECOVERY_CODES_REPLACED, user)


def _record_step(
    action: Action, user: User, old: str | None = None, new: str | None = None
) -> None:
    changes = {"type": (old, new)} if old or new else None
    with transaction.atomic():
        record(action, user, changes=changes)


@receiver(social_account_added)
def _record_connection(sociallogin: SocialLogin, **_: Any) -> None:
    account = sociallogin.account
    with transaction.atomic():
        record(
            Action.IDENTITY_CONNECTED, account.user, changes={"provider": (None, account.provider)}
        )
