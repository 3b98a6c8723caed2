"""The company's providers, as configured, and who belongs to them.

The classes for each protocol are imported when a sign-in needs them: they load ``requests`` and
``xmlsec``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from allauth.socialaccount.models import SocialAccount, SocialApp
from django.conf import settings
from django.http import HttpRequest

from apps.accounts.models import User

if TYPE_CHECKING:
    from allauth.socialaccount.providers.base import Provider

#: In addresses of SAML, where allauth expects an organization.
SAML_SLUG = "sso"


class Choice(NamedTuple):
    """One button of the sign-in page."""

    issuer: str
    name: str
    #: Names of the addresses that start a sign-in, and connect it with the own account.
    start: str
    connect: str


def choices() -> list[Choice]:
    """The configured providers."""
    found = []
    if oidc := settings.LABELHUB_OIDC:
        found.append(Choice(oidc["issuer"], oidc["name"], "oidc_login", "oidc_connect"))
    if saml := settings.LABELHUB_SAML:
        found.append(Choice(saml["entity_id"], saml["name"], "sso_saml_login", "sso_saml_connect"))
    return found


def find_provider(request: HttpRequest, issuer: str) -> Provider | None:
    """The provider with that issuer (or entity id), if it is configured."""
    if settings.LABELHUB_OIDC and issuer == settings.LABELHUB_OIDC["issuer"]:
        from apps.accounts.oidc import oidc_provider  # noqa: PLC0415 - see above

        return oidc_provider(request)
    app = saml_app()
    if app is not None and issuer in (app.provider_id, app.provider):
        return app.get_provider(request)
    return None


def saml_app() -> SocialApp | None:
    """The SAML provider in the form that allauth's views want."""
    if not settings.LABELHUB_SAML:
        return None
    from apps.accounts.saml import build_app  # noqa: PLC0415 - see above

    return build_app(settings.LABELHUB_SAML)


def by_provider(records: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a provider is among the ways by which a session was opened."""
    return any(record.get("method") == "socialaccount" for record in records)


def must_use_provider(user: User) -> bool:
    """Whether only the provider may sign ``user`` in: else a leaver keeps a way in.

    Operators with a password are let in by it, for the day on which the provider is broken.
    """
    if not choices():
        return False
    if user.is_superuser and user.has_usable_password():
        return False
    if settings.LABELHUB_SSO_ONLY:
        return True
    return not user.has_usable_password() and SocialAccount.objects.filter(user_id=user.pk).exists()
