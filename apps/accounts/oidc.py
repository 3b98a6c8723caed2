"""Sign-in by OpenID Connect: authorization code with PKCE, state and nonce.

allauth keeps the state and exchanges the code. Beyond what it checks, the ID token's signature is
verified with the provider's published keys, nonce and issuer must match, and what the userinfo
address adds must be about the same subject.
"""

import hmac
import logging
import secrets
import time
from typing import Any, cast

import jwt
import requests
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount import app_settings
from allauth.socialaccount.helpers import complete_social_login
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from apps.accounts.claims import claimed_groups
from apps.accounts.identities import Claims
from apps.accounts.models import User
from apps.accounts.sessions import end_sessions
from apps.accounts.sign_in_failures import failure_page
from apps.common.sealing import keyed_hash

logger = logging.getLogger(__name__)

#: Only with public keys: a client secret must not sign what it should prove.
ALGORITHMS = [
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
]  # fmt: skip
#: Seconds by which the clocks of the two servers may differ.
LEEWAY = 60
#: Seconds for which the provider's addresses are kept.
DISCOVERY_KEPT = 600
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
#: Seconds for which a logout token counts.
LOGOUT_KEPT = 300
#: All that can go wrong between this server and the provider.
FAILURES = (OAuth2Error, jwt.PyJWTError, requests.RequestException, PermissionDenied)


class _Untrusted(OAuth2Error):
    """An answer of the provider that does not hold."""


class OidcProvider(OpenIDConnectProvider):
    """The provider of the settings."""

    pkce_enabled_default = True

    def get_oauth2_adapter(self, request: HttpRequest) -> "OidcAdapter":
        """Who talks to it."""
        return OidcAdapter(request, self.app.provider_id)

    def get_scope(self) -> list[str]:
        """As configured."""
        return list(settings.LABELHUB_OIDC["scopes"])

    def sociallogin(self, claims: dict[str, Any]) -> SocialLogin:
        """An unfinished sign-in of the person whom verified ``claims`` describe. Of the claims
        nothing is stored but what an account has.

        Raises:
            OAuth2Error: the subject is too long to be one.
        """
        if not 0 < len(claims["sub"]) <= app_settings.UID_MAX_LENGTH:
            raise _Untrusted("the subject is empty or too long")
        login = SocialLogin(
            user=User(), account=SocialAccount(provider=self.sub_id, uid=claims["sub"]),
            provider=self,
        )  # fmt: skip
        verified = claims.get("email_verified")
        login.claims = Claims(
            issuer=self.sub_id,
            subject=claims["sub"],
            email=_text(claims, "email").strip().lower(),
            email_verified=None if verified is None else verified in (True, "true"),
            username=_text(claims, "preferred_username"),
            first_name=_text(claims, "given_name"),
            last_name=_text(claims, "family_name") or _text(claims, "name"),
            groups=claimed_groups(claims),
        )
        return login


class OidcAdapter(OpenIDConnectOAuth2Adapter):
    """Requests to the provider."""

    @property
    def openid_config(self) -> dict[str, Any]:
        """The provider's discovery document, kept for a while.

        Raises:
            OAuth2Error: it is of another issuer, or incomplete.
            RequestException: the provider does not answer.
        """
        issuer = settings.LABELHUB_OIDC["issuer"]
        config: dict[str, Any] | None = cache.get(f"oidc:{issuer}")
        if config is None:
            config = self._get(f"{issuer}/.well-known/openid-configuration")
            named = str(config.get("issuer", "")).rstrip("/")
            if named != issuer:
                raise _Untrusted(f"the discovery document is of {named}, not of {issuer}")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not isinstance(config.get(name), str):
                    raise _Untrusted(f"the discovery document has no {name}")
            cache.set(f"oidc:{issuer}", config, DISCOVERY_KEPT)
        return config

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        """The address to register at the provider."""
        return request.build_absolute_uri(reverse("oidc_callback"))

    def claims(self, tokens: dict[str, Any], nonce: str) -> dict[str, Any]:
        """What the provider says of the person: its signed token, and what userinfo adds.

        Raises:
            OAuth2Error, PyJWTError: something does not hold.
            RequestException: the provider does not answer.
        """
        claims = self.verified(tokens.get("id_token"), ["sub", "exp", "iat"])
        if not hmac.compare_digest(str(claims.get("nonce", "")), nonce):
            raise _Untrusted("the ID token is for another sign-in (nonce)")
        address = self.openid_config.get("userinfo_endpoint")
        if address:
            more = self._get(address, {"Authorization": f"Bearer {tokens['access_token']}"})
            if more.get("sub") != claims["sub"]:
                raise _Untrusted("userinfo is about somebody else")
            claims = {**more, **claims}
        return claims

    def verified(self, token: object, required: list[str]) -> dict[str, Any]:
        """The claims of a token that the provider signed for this server.

        Raises: as :meth:`claims`.
        """
        client = settings.LABELHUB_OIDC["client_id"]
        if not isinstance(token, str):
            raise _Untrusted("there is no token")
        header = jwt.get_unverified_header(token)
        keys = jwt.PyJWKSet.from_dict(self._get(self.openid_config["jwks_uri"])).keys
        fitting = [
            key
            for key in keys
            if header.get("kid") in (None, key.key_id)
            and key.public_key_use in (None, "sig")
            and _signs(key, header.get("alg"))
        ]
        if not fitting:
            raise _Untrusted("no published key fits the token")
        claims = jwt.decode(
            token,
            fitting[0].key,
            algorithms=ALGORITHMS,
            audience=client,
            issuer=self.openid_config["issuer"],
            leeway=LEEWAY,
            options={"require": ["iss", "aud", *required]},
        )
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if several and claims.get("azp") != client:
            raise _Untrusted("the token was made for another client (azp)")
        return claims

    def _get(self, address: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
        with requests.Session() as session:
            answer = session.get(
                address, headers=headers, timeout=settings.SOCIALACCOUNT_REQUESTS_TIMEOUT
            )
        answer.raise_for_status()
        found = answer.json()
        if not isinstance(found, dict):
            raise _Untrusted(f"{address} sent no object")
        return found


def oidc_provider(request: HttpRequest) -> OidcProvider:
    """The provider of the settings."""
    config = settings.LABELHUB_OIDC
    app = SocialApp(
        provider=OidcProvider.id,
        provider_id=config["issuer"],
        name=config["name"],
        client_id=config["client_id"],
        secret=config["secret"],
        settings={"server_url": config["issuer"]},
    )
    return OidcProvider(request, app=app)


def start(request: HttpRequest, process: str) -> str:
    """The provider's address to send the browser to; ``process`` is allauth's.

    Raises: as :meth:`OidcAdapter.claims`.
    """
    provider, nonce = oidc_provider(request), secrets.token_urlsafe(24)
    response = provider.redirect(
        request,
        process,
        next_url=get_next_redirect_url(request),
        auth_params={"nonce": nonce},
        nonce=nonce,
    )
    return str(response["Location"])


def finish(request: HttpRequest) -> HttpResponse:
    """Take what the provider sent with the browser, and sign the person in.

    Raises: as :meth:`OidcAdapter.claims`; PermissionDenied: the state is unknown or too old.
    """
    provider = oidc_provider(request)
    state = provider.unstash_redirect_state(request, request.GET.get("state", ""))
    sent_by = request.GET.get("iss")
    if sent_by is not None and sent_by.rstrip("/") != provider.sub_id:
        raise _Untrusted(f"the answer comes from {sent_by}")
    if "code" not in request.GET:
        return _denied(request)
    adapter = provider.get_oauth2_adapter(request)
    client = adapter.get_client(request, provider.app)
    tokens = client.get_access_token(
        request.GET["code"], pkce_code_verifier=state.get("pkce_code_verifier")
    )
    login = provider.sociallogin(adapter.claims(tokens, state["nonce"]))
    login.state = state
    return cast(HttpResponse, complete_social_login(request, login))


def log_out(token: str) -> None:
    """End the sessions of the person whom a logout token of the provider names.

    Raises: as :meth:`OidcAdapter.claims`.
    """
    adapter = OidcAdapter(HttpRequest(), settings.LABELHUB_OIDC["issuer"])
    claims = adapter.verified(token, ["sub", "iat", "jti"])
    if LOGOUT_EVENT not in (claims.get("events") or {}) or "nonce" in claims:
        raise _Untrusted("it is no logout token")
    if time.time() - claims["iat"] > LOGOUT_KEPT:
        raise _Untrusted("the logout token is too old")
    if not cache.add(f"oidc:logout:{keyed_hash('jti', claims['jti'])}", True, 2 * LOGOUT_KEPT):  # noqa: FBT003 - a mark
        raise _Untrusted("the logout token was used before")
    identity = (
        SocialAccount.objects.select_related("user")
        .filter(provider=adapter.provider_id, uid=claims["sub"])
        .first()
    )
    if identity is not None:
        end_sessions(identity.user)
        logger.warning("the provider signed %s out", identity.user)


def _signs(key: jwt.PyJWK, algorithm: object) -> bool:
    """Whether ``key`` is of the kind that ``algorithm`` needs; PyJWT fails with other errors."""
    if algorithm not in ALGORITHMS:
        return False
    try:
        jwt.get_algorithm_by_name(str(algorithm)).prepare_key(key.key)
    except (TypeError, ValueError, jwt.PyJWTError):
        return False
    return True


def reason_of(error: Exception) -> str:
    """Which of the reasons of a failed sign-in ``error`` is."""
    if isinstance(error, PermissionDenied):
        return "expired"
    if isinstance(error, requests.RequestException):
        return "unavailable"
    late = (jwt.ExpiredSignatureError, jwt.ImmatureSignatureError)
    return "clock" if isinstance(error, late) else "rejected"


def _text(claims: dict[str, Any], name: str) -> str:
    value = claims.get(name)
    return value if isinstance(value, str) else ""


def _denied(request: HttpRequest) -> HttpResponse:
    error = request.GET.get("error", "")[:100]
    detail = request.GET.get("error_description", "")[:300]
    logger.warning("the provider refused a sign-in: %s: %s", error, detail)
    usual = error in ("access_denied", "login_required", "interaction_required")
    return failure_page(request, "denied" if usual else "rejected")
