"""Settings of sign-in: the company's provider, groups, two-step verification and SCIM."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from environ import Env

from labelhub.settings.checks import check_extra


def oidc_provider(env: Env) -> dict[str, Any]:
    """The OpenID Connect provider; empty where none is named.

    Raises:
        ImproperlyConfigured: the client's id or secret is missing.
    """
    issuer = env.str("LABELHUB_OIDC_ISSUER", default="").strip().rstrip("/")
    if not issuer:
        return {}
    provider = {
        "issuer": issuer,
        "client_id": env.str("LABELHUB_OIDC_CLIENT_ID", default=""),
        "secret": env.str("LABELHUB_OIDC_CLIENT_SECRET", default=""),
        "name": env.str("LABELHUB_OIDC_NAME", default="OpenID Connect"),
        "scopes": env.str("LABELHUB_OIDC_SCOPES", default="openid profile email").split(),
    }
    if not (provider["client_id"] and provider["secret"]):
        raise ImproperlyConfigured(
            "Set LABELHUB_OIDC_CLIENT_ID and LABELHUB_OIDC_CLIENT_SECRET beside "
            "LABELHUB_OIDC_ISSUER: the provider gives them for a confidential web application."
        )
    return provider


def saml_provider(env: Env) -> dict[str, Any]:
    """The SAML provider; empty where none is named.

    Raises:
        ImproperlyConfigured: neither metadata nor address and certificate are given, or the extra
            is not installed.
    """
    entity_id = env.str("LABELHUB_SAML_ENTITY_ID", default="").strip()
    if not entity_id:
        return {}
    check_extra("LABELHUB_SAML_ENTITY_ID", "onelogin.saml2", "saml")
    provider = {
        "entity_id": entity_id,
        "name": env.str("LABELHUB_SAML_NAME", default="SAML"),
        "metadata_url": env.str("LABELHUB_SAML_METADATA_URL", default=""),
        "sso_url": env.str("LABELHUB_SAML_SSO_URL", default=""),
        "x509cert": env.str("LABELHUB_SAML_CERTIFICATE", default=""),
        "uid": env.str("LABELHUB_SAML_SUBJECT", default=""),
    }
    if not (provider["metadata_url"] or (provider["sso_url"] and provider["x509cert"])):
        raise ImproperlyConfigured(
            "Set LABELHUB_SAML_METADATA_URL, or LABELHUB_SAML_SSO_URL and "
            "LABELHUB_SAML_CERTIFICATE, beside LABELHUB_SAML_ENTITY_ID."
        )
    return provider


def required_two_step(env: Env) -> str:
    """Who must use two-step verification: ``operators``, ``all``, or nobody (empty).

    Raises:
        ImproperlyConfigured: another word, which would silently mean nobody.
    """
    value: str = env.str("LABELHUB_REQUIRE_2FA", default="").strip().lower()
    if value not in ("", "operators", "all"):
        raise ImproperlyConfigured("LABELHUB_REQUIRE_2FA is 'operators', 'all' or empty.")
    return value


def scim_token(env: Env) -> str:
    """The token of the directory; empty: no SCIM.

    Raises:
        ImproperlyConfigured: it can be guessed, or the extra is not installed.
    """
    token: str = env.str("LABELHUB_SCIM_TOKEN", default="")
    if token and len(token) < 32:
        raise ImproperlyConfigured("LABELHUB_SCIM_TOKEN has at least 32 random characters.")
    if token:
        check_extra("LABELHUB_SCIM_TOKEN", "django_scim", "scim")
    return token


#: What django-scim2 is told, see apps/accounts/scim.
SCIM_SERVICE_PROVIDER = {
    "NETLOC": "of each request",  # mandatory, and replaced by the location's getter
    "BASE_LOCATION_GETTER": "apps.accounts.scim.service.base_location",
    "AUTHENTICATION_SCHEMES": [
        {
            "type": "oauthbearertoken",
            "name": "Bearer token",
            "description": "The token of LABELHUB_SCIM_TOKEN",
        }
    ],
    "AUTH_CHECK_MIDDLEWARE": "apps.accounts.scim.service.require_token",
    "USER_ADAPTER": "apps.accounts.scim.adapters.ScimUser",
    "USER_FILTER_PARSER": "apps.accounts.scim.service.UserSearch",
    "GROUP_MODEL": "apps.accounts.models.DirectoryGroup",
    "GROUP_ADAPTER": "apps.accounts.scim.adapters.ScimGroup",
    "GROUP_FILTER_PARSER": "apps.accounts.scim.service.GroupSearch",
    "GET_EXTRA_MODEL_FILTER_KWARGS_GETTER": "apps.accounts.scim.service.row_filter",
    "GET_EXTRA_MODEL_EXCLUDE_KWARGS_GETTER": "apps.accounts.scim.service.row_exclusion",
}
