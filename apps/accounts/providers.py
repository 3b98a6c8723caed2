"""The company's providers, as configured, and whom they bind."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.utils import timezone

from apps.accounts.models import User

#: The second steps that people set up; recovery codes come with the first.
SECOND_STEPS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


class Choice(NamedTuple):
    """One button of the sign-in page."""

    issuer: str
    name: str
    #: Names of its addresses begin with it.
    prefix: str


def choices() -> list[Choice]:
    """The configured providers."""
    found = []
    if oidc := settings.LABELHUB_OIDC:
        found.append(Choice(oidc["issuer"], oidc["name"], "oidc"))
    if saml := settings.LABELHUB_SAML:
        found.append(Choice(saml["entity_id"], saml["name"], "sso_saml"))
    return found


def by_provider(records: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a provider is among the ways by which a session was opened."""
    return any(record.get("method") == "socialaccount" for record in records)


def must_use_provider(user: User) -> bool:
    """Whether only the provider may sign ``user`` in: else a leaver keeps a way in.

    Operators with a password are let in by it, for the day on which the provider is broken.
    """
    if not choices() or (user.is_superuser and user.has_usable_password()):
        return False
    if settings.LABELHUB_SSO_ONLY:
        return True
    return not user.has_usable_password() and SocialAccount.objects.filter(user_id=user.pk).exists()


def is_absent(user: User) -> bool:
    """Whether ``user``, whom a provider signs in, has not come by it for so long that their API
    keys rest: they may have left. One query, and only where the settings ask for it."""
    days = settings.LABELHUB_SSO_KEY_DAYS
    if not days or not choices():
        return False
    visits = SocialAccount.objects.filter(user_id=user.pk).values_list("last_login", flat=True)
    return bool(visits) and max(visits) < timezone.now() - timedelta(days=days)


def must_set_up(user: User, records: list[dict[str, Any]]) -> bool:
    """Whether ``user`` must set up a second step before they see any page; ``records`` are the
    ways by which the session was opened. One query, and only where the settings ask for it."""
    required = settings.LABELHUB_REQUIRE_2FA
    if not required or (required == "operators" and not (user.is_superuser or user.is_staff)):
        return False
    if by_provider(records) and not settings.LABELHUB_REQUIRE_2FA_SSO:
        return False
    if any(record.get("method") == "mfa" for record in records):
        return False
    return not Authenticator.objects.filter(user_id=user.pk, type__in=SECOND_STEPS).exists()
