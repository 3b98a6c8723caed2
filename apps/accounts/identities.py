"""Accounts of people who sign in at the company's provider.

An identity is an issuer and a subject; nothing else finds an account that signed in before. At the
first sign-in an account is created, or one is linked that the provider itself made by SCIM or
whose address only the provider can have given out (see :func:`_linkable`). Else an account whose
address equals is a refusal: whoever owns that account connects it on its own page.
"""

import logging
import re
import unicodedata
from collections.abc import Mapping
from typing import Any, NamedTuple

from allauth.mfa.models import Authenticator
from allauth.socialaccount import app_settings
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base import Provider
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction

from apps.accounts.directory import groups_of, may_sign_in, set_groups
from apps.accounts.models import GroupMember, User
from apps.accounts.services import shown_changes, shut_out
from apps.common.audit import Action, differences, record
from labelhub.core.errors import Forbidden

logger = logging.getLogger(__name__)
_NOT_IN_NAMES = re.compile(r"[^a-z0-9._-]+")


class Claims(NamedTuple):
    """What the provider says of a person, verified."""

    issuer: str
    subject: str
    email: str = ""
    #: As the provider says; None: it says nothing.
    email_verified: bool | None = None
    username: str = ""
    first_name: str = ""
    last_name: str = ""
    groups: frozenset[str] = frozenset()

    @property
    def domain_is_ours(self) -> bool:
        """Whether only the provider gives out addresses of this domain."""
        return self.email.rpartition("@")[2] in settings.LABELHUB_SSO_DOMAINS

    @property
    def verified_email(self) -> str:
        """The address in lower case, if it is surely theirs; else empty.

        Only ASCII: letters that look alike would make two addresses look the same.
        """
        verified = self.email_verified or (self.email_verified is None and self.domain_is_ours)
        try:
            validate_email(self.email)
        except ValidationError:
            return ""
        return self.email if verified and self.email.isascii() else ""


class SignInRefused(Forbidden):
    """The provider knows the person, but this server does not let them in."""


class SignInFailed(Exception):
    """Nobody is signed in, for one of ``sso_views.REASONS``; ``detail`` is for the log."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def begin_sign_in(provider: Provider, claims: Claims) -> SocialLogin:
    """allauth's unfinished sign-in of the person whom ``claims`` describe. Of the claims nothing is
    stored but what an account has.

    Raises:
        SignInFailed: the subject is no usable one.
    """
    if not 0 < len(claims.subject) <= app_settings.UID_MAX_LENGTH:
        noted = "the subject is empty or too long"
        raise SignInFailed("rejected", noted)
    account = SocialAccount(provider=claims.issuer, uid=claims.subject)
    login = SocialLogin(user=User(), account=account, provider=provider)
    login.claims = claims
    return login


def claimed_groups(claims: Mapping[str, Any]) -> frozenset[str]:
    """The groups in the claim of the settings; dots lead into objects, as in
    ``realm_access.roles``. A claim that is missing means no groups: a person who was taken out of
    the last one has none."""
    name: str = settings.LABELHUB_SSO_GROUPS_CLAIM
    value: Any = claims.get(name)
    if value is None and "." in name:
        value = claims
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if value is None and (name in (claims.get("_claim_names") or {}) or claims.get("hasgroups")):
        logger.warning(
            "the provider left out the groups of %s, who is in too many: let it send only those "
            "that are assigned to this application",
            claims.get("sub"),
        )
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return frozenset(group for group in found if isinstance(group, str) and group)


def sign_in_identity(claims: Claims) -> User:
    """The account of the person, with name, address and groups as the provider says.

    Raises:
        SignInRefused: they are in no group that may sign in, or an account that is not surely
            theirs has their address.
    """
    try:
        user = _sign_in(claims)
    except IntegrityError:  # their first sign-in in two windows at once
        user = _sign_in(claims)
    if user is None or not may_sign_in(groups_of(user)):
        logger.warning("refused %s, whom no group lets in", claims.subject)
        raise SignInRefused(
            "Your account at %(provider)s may not use this server: ask who manages it to add you.",
            provider=claims.issuer,
        )
    return user


@transaction.atomic
def _sign_in(claims: Claims) -> User | None:
    """None for somebody unknown who is in no group that may sign in."""
    # The account waits for others who change it, such as its erasure, and is then read.
    identity = (
        SocialAccount.objects.select_related("user")
        .select_for_update(of=("self", "user"), no_key=True)
        .filter(provider=claims.issuer, uid=claims.subject)
        .first()
    )
    user = identity.user if identity else _linkable(claims)
    if user is None:
        if not may_sign_in(claims.groups):
            return None
        user = _create(claims)
    if identity is None:
        SocialAccount.objects.create(user=user, provider=claims.issuer, uid=claims.subject)
    if user.is_active:
        _update(user, claims)
        set_groups(user, claims.groups, GroupMember.Source.SIGN_IN)
    return user


def _linkable(claims: Claims) -> User | None:
    """The account that becomes theirs: the directory made it, or it has an address that only the
    provider gives out, and no right on the server.

    Raises:
        SignInRefused: somebody else's account has the address.
    """
    people = User.objects.select_for_update(no_key=True)
    owner = people.exclude(scim_name="").filter(scim_external_id=claims.subject).first()
    if owner is None and claims.verified_email:
        owner = people.filter(email__iexact=claims.verified_email).first()
    if owner is None:
        return None
    trusted = owner.scim_name or (
        claims.domain_is_ours and not (owner.is_superuser or owner.is_staff or owner.makes_accounts)
    )
    if not trusted or not owner.is_active or SocialAccount.objects.filter(user=owner).exists():
        logger.warning("refused %s, whose address %s has", claims.subject, owner)
        raise SignInRefused(
            "An account with the address %(email)s exists already. Sign in to it as before, and "
            "connect it under “Sign-in and security”, or ask an operator of this server.",
            email=claims.verified_email,
        )
    _leave_no_other_way_in(owner)
    return owner


def _leave_no_other_way_in(user: User) -> None:
    """Whoever made the account may know its password, or have a key or a passkey of it."""
    user.set_unusable_password()
    user.must_change_password = False
    user.save(update_fields=["password", "must_change_password"])
    Authenticator.objects.filter(user=user).delete()
    shut_out(user)


def _create(claims: Claims) -> User:
    user = User(username=free_username(claims.username or claims.email))
    user.set_unusable_password()
    user.save()
    record(Action.USER_CREATED, user, changes={"provider": (None, claims.issuer)})
    return user


def free_username(wanted: str) -> str:
    """A user name that nobody has in any case: what stands before the ``@``, in plain letters
    only, because some letters of other scripts look the same."""
    plain = unicodedata.normalize("NFKD", wanted.partition("@")[0]).encode("ascii", "ignore")
    base = _NOT_IN_NAMES.sub("", plain.decode().lower()).strip("._-")[:100] or "person"
    taken = {
        name.lower()
        for name in User.objects.filter(username__istartswith=base).values_list(
            "username", flat=True
        )
    }
    number = 2
    name = base
    while name in taken:
        name, number = f"{base}{number}", number + 1
    return name


def _update(user: User, claims: Claims) -> None:
    """Names as the provider says; the address too, unless another account has it."""
    fields = ("first_name", "last_name", "email")
    before = {name: getattr(user, name) for name in fields}
    user.first_name = visible(claims.first_name) or user.first_name
    user.last_name = visible(claims.last_name) or user.last_name
    email = claims.verified_email
    if email and email != user.email:
        if User.objects.filter(email__iexact=email).exclude(pk=user.pk).exists():
            logger.warning("%s keeps their address: another account has the new one", user)
        else:
            user.email = email
    if changed := differences(before, {name: getattr(user, name) for name in fields}):
        user.save(update_fields=fields)
        record(Action.USER_CHANGED, user, changes=shown_changes(changed))


def visible(name: str) -> str:
    """``name`` without characters that control how text is shown, and not too long."""
    shown = "".join(letter for letter in name if unicodedata.category(letter)[0] != "C")
    return " ".join(shown.split())[:150]
