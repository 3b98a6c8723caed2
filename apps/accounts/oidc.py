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
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import complete_social_login
from allauth.socialaccount.models import SocialAccount, SocialApp
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from apps.accounts.identities import Claims, SignInFailed, begin_sign_in, claimed_groups
from apps.accounts.sessions import end_sessions
from apps.common.sealing import keyed_hash

logger = logging.getLogger(__name__)

#: Only with public keys: a client secret must not sign what it should prove.
ALGORITHMS = [
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
]  # fmt: skip
#: Seconds by which the clocks of the two servers may differ.
LEEWAY = 60
#: Seconds for which the provider's addresses and keys are kept: a key that it withdraws counts no
#: longer than that.
KEPT = 600
#: Seconds between two fetches of keys for tokens that no kept key has signed: whoever sends bad
#: tokens causes no more, and a new key counts after at most that time.
REFETCH_EVERY = 10
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
#: Seconds for which a logout token counts.
LOGOUT_KEPT = 300
#: All that can go wrong between this server and the provider, and which reason it is.
FAILURES: dict[type[Exception], str] = {
    PermissionDenied: "expired",
    requests.RequestException: "unavailable",
    jwt.ExpiredSignatureError: "clock",
    jwt.ImmatureSignatureError: "clock",
    jwt.PyJWTError: "rejected",
    OAuth2Error: "rejected",
}


class OidcProvider(OpenIDConnectProvider):
    """The provider of the settings."""

    pkce_enabled_default = True

    def get_oauth2_adapter(self, request: HttpRequest) -> "OidcAdapter":
        """Who talks to it."""
        return OidcAdapter(request, self.app.provider_id)

    def get_scope(self) -> list[str]:
        """As configured."""
        return list(settings.LABELHUB_OIDC["scopes"])


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
                raise OAuth2Error(f"the discovery document is of {named}, not of {issuer}")
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                if not isinstance(config.get(name), str):
                    raise OAuth2Error(f"the discovery document has no {name}")
            cache.set(f"oidc:{issuer}", config, KEPT)
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
            raise OAuth2Error("the ID token is for another sign-in (nonce)")
        address = self.openid_config.get("userinfo_endpoint")
        if address:
            more = self._get(address, {"Authorization": f"Bearer {tokens['access_token']}"})
            if more.get("sub") != claims["sub"]:
                raise OAuth2Error("userinfo is about somebody else")
            claims = {**more, **claims}
        return claims

    def verified(self, token: object, required: list[str]) -> dict[str, Any]:
        """The claims of a token that the provider signed for this server.

        Raises: as :meth:`claims`.
        """
        client = settings.LABELHUB_OIDC["client_id"]
        if not isinstance(token, str):
            raise OAuth2Error("there is no token")
        claims: dict[str, Any] = jwt.decode(
            token,
            self._signing_key(token),
            algorithms=ALGORITHMS,
            audience=client,
            issuer=self.openid_config["issuer"],
            leeway=LEEWAY,
            options={"require": ["iss", "aud", *required]},
        )
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if several and claims.get("azp") != client:
            raise OAuth2Error("the token was made for another client (azp)")
        return claims

    def _signing_key(self, token: str) -> Any:
        """The published key that signed ``token``; a key that is not known is looked for again, as
        the provider may have a new one, also under the old name or without one."""
        address = self.openid_config["jwks_uri"]
        name = f"oidc:keys:{address}"
        kept = cache.get(name)
        key = _find_key(kept, token) if kept else None
        if key is None and (not kept or cache.add(f"{name}:again", True, REFETCH_EVERY)):  # noqa: FBT003 - a mark
            kept = self._get(address)
            cache.set(name, kept, KEPT)
            key = _find_key(kept, token)
        if key is None:
            raise OAuth2Error("no published key signed the token")
        return key

    def _get(self, address: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
        with get_adapter().get_requests_session() as session:
            answer = session.get(address, headers=headers)
        answer.raise_for_status()
        found = answer.json()
        if not isinstance(found, dict):
            raise OAuth2Error(f"{address} sent no object")
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


def start(request: HttpRequest, process: str, next_url: str | None = None) -> str:
    """The provider's address to send the browser to; ``process`` is allauth's. To confirm who one
    is (REDIRECT), the provider is to ask again.

    Raises: as :meth:`OidcAdapter.claims`.
    """
    nonce = secrets.token_urlsafe(24)
    again = {"prompt": "login", "max_age": "0"} if process == AuthProcess.REDIRECT else {}
    response = oidc_provider(request).redirect(
        request,
        process,
        next_url=next_url or get_next_redirect_url(request),
        auth_params={"nonce": nonce, **again},
        nonce=nonce,
    )
    return str(response["Location"])


def finish(request: HttpRequest) -> HttpResponse:
    """Take what the provider sent with the browser, and sign the person in.

    Raises: as :meth:`OidcAdapter.claims`; PermissionDenied: the state is unknown or too old;
    SignInFailed: the provider refuses, or did not ask again.
    """
    provider = oidc_provider(request)
    state = provider.unstash_redirect_state(request, request.GET.get("state", ""))
    sent_by = request.GET.get("iss")
    if sent_by is not None and sent_by.rstrip("/") != provider.sub_id:
        raise OAuth2Error(f"the answer comes from {sent_by}")
    if "code" not in request.GET:
        error = request.GET.get("error", "")
        usual = error in ("access_denied", "login_required", "interaction_required")
        detail = f"{error[:100]}: {request.GET.get('error_description', '')[:300]}"
        raise SignInFailed("denied" if usual else "rejected", detail)
    adapter = provider.get_oauth2_adapter(request)
    client = adapter.get_client(request, provider.app)
    tokens = client.get_access_token(
        request.GET["code"], pkce_code_verifier=state.get("pkce_code_verifier")
    )
    claims = adapter.claims(tokens, state["nonce"])
    # Some providers do not say when they asked; then it must do that they were told to.
    asked_at, earliest = claims.get("auth_time"), time.time() - REAUTHENTICATION_TIMEOUT
    if (
        state["process"] == AuthProcess.REDIRECT
        and isinstance(asked_at, int)
        and asked_at < earliest
    ):
        raise SignInFailed("rejected", "the provider did not ask the person again")
    login = begin_sign_in(provider, _read_claims(provider.sub_id, claims))
    login.state = state
    return cast(HttpResponse, complete_social_login(request, login))


def log_out(token: str) -> None:
    """End the sessions of the person whom a logout token of the provider names.

    Raises: as :meth:`OidcAdapter.claims`.
    """
    adapter = OidcAdapter(HttpRequest(), settings.LABELHUB_OIDC["issuer"])
    claims = adapter.verified(token, ["sub", "iat", "jti"])
    if LOGOUT_EVENT not in (claims.get("events") or {}) or "nonce" in claims:
        raise OAuth2Error("it is no logout token")
    if time.time() - claims["iat"] > LOGOUT_KEPT:
        raise OAuth2Error("the logout token is too old")
    used = f"oidc:logout:{keyed_hash('jti', claims['jti'])}"
    if cache.get(used):
        raise OAuth2Error("the logout token was used before")
    identity = (
        SocialAccount.objects.select_related("user")
        .filter(provider=adapter.provider_id, uid=claims["sub"])
        .first()
    )
    if identity is not None:
        end_sessions(identity.user)
        logger.warning("the provider signed %s out", identity.user)
    # Last: if something fails before, the provider sends it again.
    cache.set(used, "used", 2 * LOGOUT_KEPT)


def _find_key(published: dict[str, Any], token: str) -> Any:
    """The key that signed ``token``, or None; PyJWT fails in several ways for keys of other kinds.

    Raises:
        PyJWTError: it is no token, or there are no keys.
    """
    header = jwt.get_unverified_header(token)
    if header.get("alg") not in ALGORITHMS:
        return None
    for key in jwt.PyJWKSet.from_dict(published).keys:
        if header.get("kid") in (None, key.key_id) and key.public_key_use in (None, "sig"):
            try:
                jwt.PyJWS().decode(token, key.key, algorithms=[header["alg"]])
            except (TypeError, ValueError, jwt.PyJWTError):
                continue
            return key.key
    return None


def _read_claims(issuer: str, claims: dict[str, Any]) -> Claims:
    def text(name: str) -> str:
        value = claims.get(name)
        return value if isinstance(value, str) else ""

    verified = claims.get("email_verified")
    return Claims(
        issuer=issuer,
        subject=claims["sub"],
        email=text("email").strip().lower(),
        email_verified=None if verified is None else verified in (True, "true"),
        username=text("preferred_username"),
        first_name=text("given_name"),
        last_name=text("family_name") or text("name"),
        groups=claimed_groups(claims),
    )
