from django.urls import path
from django.views.generic import RedirectView

from apps.accounts import sso_views, views

# allauth's names where its own code redirects to them; pages that we do not style are left out.
urlpatterns = [
    path("keys/", views.api_keys, name="api_keys"),
    path("keys/<int:key_id>/rotate/", views.api_key_rotate, name="api_key_rotate"),
    path("keys/<int:key_id>/revoke/", views.api_key_revoke, name="api_key_revoke"),
    path("accounts/login/", views.SignInView.as_view(), name="account_login"),
    path("accounts/security/", views.security, name="mfa_index"),
    path("accounts/sessions/", views.session_list, name="session_list"),
    path("accounts/sessions/end/", views.sessions_end_others, name="sessions_end_others"),
    path("accounts/sessions/<int:session_id>/end/", views.session_end, name="session_end"),
    *(
        path(f"accounts/{address}/", views.second_step, {"view": view}, name=f"mfa_{view}")
        for address, view in [
            ("2fa", "authenticate"), ("2fa/confirm", "reauthenticate"),
            ("2fa/app", "activate_totp"), ("2fa/app/remove", "deactivate_totp"),
            ("2fa/codes", "view_recovery_codes"), ("2fa/codes/new", "generate_recovery_codes"),
            ("passkeys/add", "add_webauthn"), ("passkeys/login", "login_webauthn"),
            ("passkeys/confirm", "reauthenticate_webauthn"),
            ("passkeys/<int:pk>/remove", "remove_webauthn"),
        ]
    ),
    path(
        "accounts/passkeys/", RedirectView.as_view(pattern_name="mfa_index"),
        name="mfa_list_webauthn",
    ),
    *(
        path(
            f"accounts/{protocol}/{name}/", view, {"protocol": protocol}, name=f"{prefix}_{name}"
        )
        for protocol, prefix in [("oidc", "oidc"), ("saml", "sso_saml")]
        for name, view in [
            ("login", sso_views.sso_login), ("connect", sso_views.sso_connect),
            ("confirm", sso_views.sso_confirm),
        ]
    ),
    path("accounts/oidc/callback/", sso_views.oidc_callback, name="oidc_callback"),
    path("accounts/oidc/logout/", sso_views.oidc_logout, name="oidc_logout"),
    *(
        path(
            f"accounts/saml/<slug:organization_slug>/{address}/", sso_views.saml, {"view": view},
            name=f"saml_{view}",
        )
        for address, view in [
            ("acs", "acs"), ("acs/finish", "finish_acs"), ("sls", "sls"), ("metadata", "metadata"),
        ]
    ),
]  # fmt: skip
