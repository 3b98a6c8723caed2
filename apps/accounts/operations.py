"""What operators do for people who cannot sign in, and to keys that should not live on."""

import secrets
from copy import copy
from datetime import datetime, timedelta

from allauth.account.adapter import get_adapter
from allauth.account.forms import ResetPasswordForm
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.models import Permission
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import ApiKey, User
from apps.accounts.providers import is_absent, must_use_provider
from apps.accounts.services import ADD_USER, shut_out
from apps.accounts.sessions import end_sessions
from apps.common.audit import Action, address_of, record
from apps.common.models import AuditEntry
from labelhub.core.errors import Conflict, Unavailable

#: As ``ACCOUNT_RATE_LIMITS["login_failed"]`` counts by name and address.
WRONG_PASSWORDS, WITHIN = 5, timedelta(minutes=5)


def locked_out() -> QuerySet[User]:
    """The people who typed so many wrong passwords that they must wait; by the audit log, as the
    counts themselves may be in the memory of another process."""
    refused = _refusals().values("subject_person__user_id").annotate(times=Count("pk")).order_by()
    many = refused.filter(times__gte=WRONG_PASSWORDS, subject_person__isnull=False)
    return User.objects.filter(pk__in=many.values("subject_person__user_id"))


def _refusals() -> QuerySet[AuditEntry]:
    """Those of the last minutes since which nobody has unlocked the person."""
    recent = AuditEntry.objects.filter(at__gte=timezone.now() - WITHIN)
    unlocked = recent.filter(
        action=Action.USER_CHANGED.value,
        changes__has_key="locked",
        subject_person=OuterRef("subject_person"),
        pk__gt=OuterRef("pk"),
    )
    return recent.filter(~Exists(unlocked), action=Action.SIGN_IN_FAILED.value)


def unlock(user: User, request: HttpRequest) -> bool:
    """Let ``user`` try again at once from where they failed; False if they need not wait.

    Without Redis, only in this server's process.
    """
    entries = _refusals().filter(subject_person__user_id=user.pk).order_by("-pk")
    entries = entries.select_related("actor", "subject_person")[:100]
    addresses = {address for entry in entries if (address := address_of(entry))}
    if not addresses:
        return False
    adapter = get_adapter(request)
    for address in addresses:
        theirs = copy(request)
        theirs.META = {**request.META, "REMOTE_ADDR": address}
        for name in filter(None, (user.username, user.email)):
            # allauth's own, which it calls after a new password.
            adapter._delete_login_attempts_cached_email(theirs, email=name)  # noqa: SLF001
    record(Action.USER_CHANGED, user, changes={"locked": (True, False)})
    return True


def set_one_time_password(user: User) -> str:
    """A password that opens one page, where ``user`` chooses another; ends their sessions.

    Raises:
        Conflict: ``user`` signs in by the provider only.
    """
    _refuse_provider(user)
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    user.must_change_password = True
    user.save(update_fields=["password", "must_change_password"])
    record(Action.PASSWORD_SET, user)
    end_sessions(user)
    return password


def send_password_link(user: User, request: HttpRequest) -> None:
    """Send ``user`` the mail of "Forgot your password?".

    Raises:
        Conflict: they have no address, or this server sends no mail.
        Unavailable: the mail server does not take it.
    """
    _refuse_provider(user)
    if not settings.LABELHUB_SENDS_MAIL:
        raise Conflict("This server sends no e-mail: set LABELHUB_EMAIL_URL, or give a password.")
    form = ResetPasswordForm({"email": user.email})
    if not (user.email and user.is_active and form.is_valid()):
        raise Conflict("The account has no e-mail address, or is not active.")
    try:
        form.save(request)
    except OSError as error:  # of the network or the mail server
        raise Unavailable(
            "The mail server does not take the e-mail: try again later, or give a password."
        ) from error
    with transaction.atomic():
        record(Action.USER_CHANGED, user, changes={"password_link": (None, "sent")})


def _refuse_provider(user: User) -> None:
    if must_use_provider(user):
        raise Conflict("They sign in by the company's provider, without a password here.")


def disconnect_provider(user: User) -> bool:
    """Forget who ``user`` is at the company's provider; False if nothing was known. Keys that rest,
    as they have long not come by it, would work again without it: they are revoked."""
    if is_absent(user):
        shut_out(user)
    return bool(SocialAccount.objects.filter(user=user).delete()[0])


def let_create_accounts(user: User, *, allowed: bool) -> None:
    """Let ``user`` create accounts for the projects that they manage, or no longer."""
    permission = Permission.objects.get_by_natural_key(*ADD_USER)
    had = user.user_permissions.filter(pk=permission.pk).exists()
    if had != allowed:
        (user.user_permissions.add if allowed else user.user_permissions.remove)(permission)
        record(Action.USER_CHANGED, user, changes={"makes_accounts": (had, allowed)})


@transaction.atomic
def expire_api_key(key: ApiKey, until: datetime) -> bool:
    """Let ``key``, and the keys that programs created with it, work until then at most; False if
    it ends sooner anyway."""
    if key.revoked_at is not None:
        return False
    before = key.expires_at
    end = min(before, until) if before else until
    if end != before:
        key.expires_at = end
        key.save(update_fields=["expires_at"])
        changes = {"owner": (key.user_id, key.user_id), "expires_at": (before, end)}
        record(Action.KEY_CHANGED, key, name=f"{key.prefix}…", changes=changes)
    for made in key.made_keys.select_for_update(no_key=True).filter(revoked_at=None):
        expire_api_key(made, end)
    return end != before
