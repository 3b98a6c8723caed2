"""Sign-in by SAML 2.0, on allauth's views and python3-saml (``pip install labelhub[saml]``)."""

from functools import partial
from typing import Any

from allauth.socialaccount import app_settings
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from apps.accounts.claims import claimed_groups
from apps.accounts.identities import Claims
from apps.accounts.models import User
from apps.accounts.providers import SAML_SLUG

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


class SamlProvider(SAMLProvider):
    """The provider of the settings."""

    def sociallogin_from_response(self, request: HttpRequest, response: Any) -> SocialLogin:
        """An unfinished sign-in of the person whom the verified ``response`` describes.

        Raises:
            PermissionDenied: it names the person differently each time.
        """
        named = self._extract(response)
        subject = named.get("uid") or response.get_nameid() or ""
        transient = not named.get("uid") and response.get_nameid_format() == TRANSIENT
        if transient or not 0 < len(subject) <= app_settings.UID_MAX_LENGTH:
            raise PermissionDenied("the subject is transient, empty or too long")
        login = SocialLogin(
            user=User(), account=SocialAccount(provider=self.sub_id, uid=subject), provider=self
        )
        attributes: dict[str, list[str]] = response.get_attributes()
        groups = claimed_groups(attributes).union(*(attributes.get(name, []) for name in GROUPS))
        login.claims = Claims(
            issuer=self.sub_id,
            subject=subject,
            email=(named.get("email") or "").strip().lower(),
            username=named.get("username") or "",
            first_name=named.get("first_name") or "",
            last_name=named.get("last_name") or "",
            groups=groups,
        )
        return login


def build_app(config: dict[str, Any]) -> SocialApp:
    """The settings in the form that allauth's views want; no row."""
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
        client_id=SAML_SLUG,
        settings={
            "idp": idp,
            "attribute_mapping": {**ATTRIBUTES, "uid": uid},
            "advanced": {"want_attribute_statement": False},
        },
    )
    app.get_provider = partial(SamlProvider, app=app)  # allauth's registry does not know ours
    return app
