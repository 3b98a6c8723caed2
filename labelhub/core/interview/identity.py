"""The identity of a site's visitor: a short-lived signed token (JWT, HS256, one secret per key).

Only the site's server knows the secret, so a valid token comes from the site. It is valid for at
most an hour and for one site: the audience is the site's public key.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import jwt

from labelhub.core.errors import LabelhubError

#: Characters of a token and of its attributes as JSON; of an author's or a token's own name.
MOST_TOKEN, MOST_ATTRS, MOST_NAME = 4_096, 2_048, 200
#: Seconds: the longest validity of a token, and how far the site's clock may be ahead of ours.
LONGEST, AHEAD = 3_600, 60

_OPTIONS: Final[jwt.types.Options] = {
    "require": ["exp", "iat", "aud", "sub"],
    "strict_aud": True,
    "enforce_minimum_key_length": True,
    # These use the machine's clock; our clock is an argument of _check_times. ``_name`` has better
    # messages for a wrong sub or jti.
    "verify_sub": False,
    "verify_jti": False,
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
}


class IdentInvalid(LabelhubError):
    """The token is not validly signed by this site."""

    code = "ident_invalid"
    http_status = 401


class IdentExpired(LabelhubError):
    """The token was valid but has expired: the host fetches a new one."""

    code = "ident_expired"
    retryable = True
    http_status = 401


@dataclass(frozen=True, slots=True)
class VerifiedVisitor:
    """A visitor as the site knows them.

    ``sub``: the site's own id of the author. ``jti``: the token's id, "" if it has none. ``attrs``:
    further data of the site, as JSON.
    """

    sub: str
    expires_at: datetime
    jti: str
    attrs: Mapping[str, Any]


def read_ident(
    token: str, secrets: Mapping[str, bytes], *, audience: str, now: datetime
) -> VerifiedVisitor:
    """The visitor in ``token``.

    Args:
        token: as the browser sent it.
        secrets: the site's secrets by key id, each of at least 32 bytes; with two of them a token
            must name (``kid``) the one that signed it.
        audience: the site's public key.
        now: aware.

    Raises:
        IdentInvalid: it is not signed with HS256 and one of the secrets, or a claim is missing or
            not allowed; the message names it.
        IdentExpired: only its time is over.
    """
    claims = _verify(token, secrets, audience)
    _check_times(claims, now.timestamp())
    return VerifiedVisitor(
        sub=_name(claims, "sub"),
        expires_at=datetime.fromtimestamp(claims["exp"], UTC),
        jti=_name(claims, "jti") if "jti" in claims else "",
        attrs=_attrs(claims.get("attrs", {})),
    )


def _verify(token: str, secrets: Mapping[str, bytes], audience: str) -> dict[str, Any]:
    """The claims of a token with a valid signature and audience."""
    if len(token) > MOST_TOKEN:
        raise IdentInvalid(f"The identity token is longer than {MOST_TOKEN} characters.")
    try:
        secret = _secret(jwt.get_unverified_header(token), secrets)
        return jwt.decode(token, secret, algorithms=["HS256"], audience=audience, options=_OPTIONS)
    except jwt.MissingRequiredClaimError as fault:
        raise IdentInvalid(f"The identity token lacks the claim {fault.claim}.") from None
    except jwt.InvalidAudienceError:
        raise IdentInvalid("The identity token's aud is not this site's public key.") from None
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise IdentInvalid(
            "The identity token is not one signed with HS256 and this site's secret."
        ) from None


def _secret(header: Mapping[str, Any], secrets: Mapping[str, bytes]) -> bytes:
    kid = header.get("kid")
    if kid is None and len(secrets) == 1:
        return next(iter(secrets.values()))
    if not isinstance(kid, str) or kid not in secrets:
        raise IdentInvalid("The identity token names no kid that this site has a secret for.")
    return secrets[kid]


def _check_times(claims: Mapping[str, Any], now: float) -> None:
    issued, expires = _seconds(claims, "iat"), _seconds(claims, "exp")
    if issued > now + AHEAD:
        raise IdentInvalid("The identity token's iat lies in the future; check the site's clock.")
    if not 0 < expires - issued <= LONGEST:
        raise IdentInvalid(f"The identity token's exp must be within {LONGEST} s after its iat.")
    if "nbf" in claims and _seconds(claims, "nbf") > now + AHEAD:
        raise IdentInvalid("The identity token's nbf lies in the future.")
    if expires <= now:
        raise IdentExpired("The identity token has expired; ask the site for a new one.")


def _seconds(claims: Mapping[str, Any], claim: str) -> float:
    value = claims[claim]
    # The bound also excludes integers beyond all floats.
    if type(value) not in {int, float} or not -1e11 < value < 1e11 or math.isnan(value):
        raise IdentInvalid(f"The identity token's {claim} is not a time in seconds.")
    return float(value)


def _name(claims: Mapping[str, Any], claim: str) -> str:
    value = claims[claim]
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise IdentInvalid(f"The identity token's {claim} is not printable text.")
    if len(value) > MOST_NAME:
        raise IdentInvalid(f"The identity token's {claim} is longer than {MOST_NAME} characters.")
    return value


def _attrs(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise IdentInvalid("The identity token's attrs is not an object.")
    try:
        written = json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        raise IdentInvalid("The identity token's attrs is not plain JSON.") from None
    if len(written) > MOST_ATTRS:
        raise IdentInvalid(f"The identity token's attrs is longer than {MOST_ATTRS} characters.")
    return value
