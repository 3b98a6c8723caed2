"""allauth's sign-in, without its public sign-up: by password, provider and second step."""

import logging
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.core.internal.ratelimit import get_ip
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.identities import SignInFailed, sign_in_identity
from apps.accounts.models import User
from apps.accounts.providers import by_provider, choices, must_use_provider
from apps.accounts.sessions import LISTED
from apps.accounts.sign_ins import record_refusal
from apps.common.addresses import shows_page
from apps.common.audit import Action, record
from apps.common.sealing import seal, unseal

if TYPE_CHECKING:
    from allauth.socialaccount.providers.base import Provider

logger = logging.getLogger(__name__)


class ClosedSignupAdapter(DefaultAccountAdapter):
    """Only operators and project managers create accounts."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Never."""
        return False

    def get_reauthentication_methods(self, user: Any) -> list[dict[str, Any]]:
        """Also the provider, for people whom it signs in: they may have no other way."""
        known = set(SocialAccount.objects.filter(user=user.pk).values_list("provider", flat=True))
        at_provider = [
            {"id": "provider", "description": name, "url": reverse(f"{prefix}_confirm")}
            for issuer, name, prefix in choices()
            if issuer in known
        ]
        return [*super().get_reauthentication_methods(user), *at_provider]

    def is_reauthentication_required(self, *, app: str) -> bool:
        """Also before an account is connected with another one of the provider. Not if the person
        has just confirmed there that it is they, which allauth does not count."""
        if app != "allauth.socialaccount" and not super().is_reauthentication_required(app=app):
            return False
        since = time.time() - REAUTHENTICATION_TIMEOUT
        records = get_authentication_records(self.request, self.request.user)
        again = [row for row in records if row.get("reauthenticated") and row["at"] > since]
        return not by_provider(again)

    def pre_login(
        self, request: HttpRequest, user: AbstractBaseUser, **kwargs: Any
    ) -> HttpResponse | None:
        """Refuse other ways in to people who belong to the provider: they would outlast it."""
        by_social = "sociallogin" in (kwargs["signal_kwargs"] or {})
        if isinstance(user, User) and not by_social and must_use_provider(user):
            logger.warning("refused %s, who signs in by the provider only", user)
            record_refusal(user)
            messages.error(request, gettext("Sign in with the button of your company."))
            return redirect("account_login")
        response: HttpResponse | None = super().pre_login(request, user, **kwargs)
        if response is not None:
            logger.warning("refused %s, whose account is not active", user)
            record_refusal(user if isinstance(user, User) else None)
        return response

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Log it."""
        super().authentication_failed(request, **credentials)
        logger.warning("wrong name or password from %s", get_ip(request))

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Sessions by the provider end after a time, so that leavers are noticed. The language of
        the browser is theirs, if they have not chosen one."""
        super().login(request, user)
        if by_provider(get_authentication_records(request, user)):
            hours = timedelta(hours=settings.LABELHUB_SSO_SESSION_HOURS)
            request.session.set_expiry(timezone.now() + hours)
        request.session[LISTED] = True
        UserSession.objects.create_from_request(request)
        language = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME)
        if language in dict(settings.LANGUAGES):
            User.objects.filter(pk=user.pk, language="").update(language=language)

    def is_safe_url(self, url: str) -> bool:
        """Also refuse addresses that show no page; the start page is shown instead."""
        return super().is_safe_url(url) and shows_page(url)

    def get_password_change_redirect_url(self, _request: HttpRequest) -> str:
        """The start page, instead of the form again."""
        return "/"

    def clean_password(self, password: str, user: AbstractBaseUser | None = None) -> str:
        """Refuse the password that somebody else has set, and any for people of the provider."""
        if isinstance(user, User) and must_use_provider(user):
            raise ValidationError(gettext("You sign in by the provider, without a password."))
        if isinstance(user, User) and user.must_change_password and user.check_password(password):
            raise ValidationError(
                gettext("Choose another password than the one that you were given.")
            )
        return str(super().clean_password(password, user))

    def set_password(self, user: User, password: str) -> None:
        """Store the password that a person chose, by any form."""
        user.must_change_password = False
        with transaction.atomic():
            super().set_password(user, password)
            record(Action.PASSWORD_CHANGED, user)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count failed sign-ins by name and address: by name alone, five wrong passwords from
        anywhere would lock a person out everywhere."""
        by_name = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{by_name}:{get_ip(request)}"


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Sign-in at the company's provider, of which settings name one by protocol."""

    def get_provider(
        self, request: HttpRequest, provider: str, client_id: str | None = None
    ) -> "Provider":
        """The provider with that issuer or, in a sign-in that waits for a second step, of that
        protocol.

        Raises:
            SocialApp.DoesNotExist: it is not configured (any more).
        """
        oidc = settings.LABELHUB_OIDC
        if oidc and provider in (oidc["issuer"], "openid_connect"):
            from apps.accounts.oidc import oidc_provider  # noqa: PLC0415 - it loads requests

            return oidc_provider(request)
        app = self.get_app(request, provider, client_id)
        if provider not in (app.provider_id, app.provider):
            raise SocialApp.DoesNotExist
        return app.get_provider(request)

    def get_app(
        self, request: HttpRequest, provider: str, client_id: str | None = None
    ) -> SocialApp:
        """The SAML provider, as allauth's views of SAML ask for it."""
        if not settings.LABELHUB_SAML:
            raise SocialApp.DoesNotExist
        from apps.accounts.saml import saml_app  # noqa: PLC0415 - it loads xmlsec

        app = saml_app()
        if client_id not in (None, app.client_id):
            raise SocialApp.DoesNotExist
        return app

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Find or make the account; allauth then signs in who is known. Who confirms at the
        provider that it is they is signed in already.

        Raises:
            SignInRefused: the person is not let in.
            SignInFailed: they are not who is to connect the account, or to confirm.
        """
        process, account = sociallogin.state.get("process"), sociallogin.account
        mine = SocialAccount.objects.filter(user=request.user.pk, provider=account.provider)
        same = mine.filter(uid=account.uid).exists()
        if not same and (
            process == AuthProcess.REDIRECT or (process == AuthProcess.CONNECT and mine)
        ):
            raise SignInFailed("another", " ≠ ".join((str(request.user), account.uid)))
        if process == AuthProcess.CONNECT:
            return
        sociallogin.user = sign_in_identity(sociallogin.claims)
        sociallogin.account = SocialAccount.objects.get(provider=account.provider, uid=account.uid)
        if process == AuthProcess.REDIRECT:
            record_authentication(request, sociallogin.user, "socialaccount", reauthenticated=True)

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: "Provider",
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """What allauth's views of SAML refuse is said on our page.

        Raises:
            SignInFailed: always.
        """
        reason = "denied" if error == AuthError.CANCELLED else "rejected"
        detail = (extra_context or {}).get("saml_last_error_reason") or exception or error
        raise SignInFailed(reason, str(detail))

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: SocialAccount) -> str:
        """Where people see what they are connected with."""
        return reverse("mfa_index")


class TwoStepAdapter(DefaultMFAAdapter):
    """Secrets of the second step, encrypted at rest."""

    def encrypt(self, text: str) -> str:
        """Sealed, as text."""
        return seal(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """The counterpart.

        Raises:
            CannotOpen: no key decrypts it.
        """
        return unseal(encrypted_text.encode()).decode()
