"""Sign-in by SAML 2.0, on allauth's views and python3-saml (``pip install labelhub[saml]``)."""

from functools import partial
from typing import Any

from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthProcess
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from allauth.socialaccount.providers.saml.utils import build_auth
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from onelogin.saml2.errors import OneLogin_Saml2_Error

from apps.accounts.identities import Claims, SignInFailed, begin_sign_in, claimed_groups

#: In addresses, where allauth expects an organization.
SLUG = "sso"
TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
_CLAIM = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/"
#: Where providers put what we want: standard object identifiers, Entra ID's names, plain names.
ATTRIBUTES = {
    "uid": [
        "urn:oasis:names:tc:SAML:attribute:subject-id",
        "http://schemas.microsoft.com/identity/claims/objectidentifier",
    ],
    "email": ["urn:oid:0.9.2342.19200300.100.1.3", f"{_CLAIM}emailaddress", "email", "mail"],
    "first_name": ["urn:oid:2.5.4.42", f"{_CLAIM}givenname", "firstName", "givenName"],
    "last_name": ["urn:oid:2.5.4.4", f"{_CLAIM}surname", "lastName", "surname"],
    "username": ["urn:oid:0.9.2342.19200300.100.1.1", f"{_CLAIM}name", "username", "uid"],
}
#: Names of Entra ID and AD FS for the groups, tried after the one of the settings.
GROUPS = ["http://schemas.microsoft.com/ws/2008/06/identity/claims/groups", "memberOf"]
#: All that can go wrong, and which reason it is; what is wrong in metadata raises the last ones.
FAILURES: dict[type[Exception], str] = {
    PermissionDenied: "expired",
    OSError: "unavailable",
    OneLogin_Saml2_Error: "rejected",
    SyntaxError: "rejected",
    KeyError: "rejected",
}


class SamlProvider(SAMLProvider):
    """The provider of the settings."""

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> SocialLogin:
        """An unfinished sign-in of the person whom the verified ``response`` describes.

        Raises:
            SignInFailed: it names the person differently each time.
        """
        named = self._extract(response)
        if not named.get("uid") and response.get_nameid_format() == TRANSIENT:
            noted = "the subject is transient"
            raise SignInFailed("rejected", noted)
        attributes: dict[str, list[str]] = response.get_attributes()
        groups = claimed_groups(attributes).union(*(attributes.get(name, []) for name in GROUPS))
        return begin_sign_in(
            self,
            Claims(
                issuer=self.sub_id,
                subject=named.get("uid") or response.get_nameid() or "",
                email=(named.get("email") or "").strip().lower(),
                username=named.get("username") or "",
                first_name=named.get("first_name") or "",
                last_name=named.get("last_name") or "",
                groups=groups,
            ),
        )


def saml_app() -> SocialApp:
    """The settings in the form that allauth's views want; no row."""
    config = settings.LABELHUB_SAML
    idp = {"entity_id": config["entity_id"]}
    if config["metadata_url"]:
        idp["metadata_url"] = config["metadata_url"]
        idp["metadata_request_timeout"] = settings.SOCIALACCOUNT_REQUESTS_TIMEOUT
    else:
        idp |= {"sso_url": config["sso_url"], "x509cert": config["x509cert"]}
    uid = [config["uid"]] if config["uid"] else ATTRIBUTES["uid"]
    app = SocialApp(
        provider=SamlProvider.id,
        provider_id=config["entity_id"],
        name=config["name"],
        client_id=SLUG,
        settings={
            "idp": idp,
            "attribute_mapping": {**ATTRIBUTES, "uid": uid},
            "advanced": {"want_attribute_statement": False},
        },
    )
    app.get_provider = partial(SamlProvider, app=app)  # allauth's registry does not know ours
    return app


def start(request: HttpRequest, process: str, next_url: str | None = None) -> str:
    """The provider's address to send the browser to; ``process`` is allauth's. To confirm who one
    is (REDIRECT), the provider is to ask again.

    Raises: the errors of :data:`FAILURES`.
    """
    provider = saml_app().get_provider(request)
    auth = build_auth(request, provider)
    address: str = auth.login(return_to="", force_authn=process == AuthProcess.REDIRECT)
    provider.stash_redirect_state(
        request,
        process,
        next_url or get_next_redirect_url(request),
        state_id=auth.get_last_request_id(),
    )
    return address
