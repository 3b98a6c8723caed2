"""Two-step verification: who must have it."""

from collections.abc import Iterable, Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings

from apps.accounts.models import User
from apps.accounts.providers import by_provider

#: The second steps that people set up; recovery codes come with the first.
SECOND_STEPS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def must_set_up(user: User, records: Iterable[Mapping[str, Any]]) -> bool:
    """Whether ``user`` must set up a second step before they see any page; ``records`` are the
    ways by which the session was opened. One query, and only where the settings ask for it."""
    required = settings.LABELHUB_REQUIRE_2FA
    if not required or (required == "operators" and not (user.is_superuser or user.is_staff)):
        return False
    records = list(records)
    if by_provider(records) and not settings.LABELHUB_REQUIRE_2FA_SSO:
        return False
    if any(record.get("method") == "mfa" for record in records):
        return False
    return not Authenticator.objects.filter(user_id=user.pk, type__in=SECOND_STEPS).exists()
