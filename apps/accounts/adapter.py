"""allauth's sign-in, without its public sign-up."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.common.addresses import shows_page
from apps.common.audit import Action, record


class ClosedSignupAdapter(DefaultAccountAdapter):
    """Only operators and project managers create accounts."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Never."""
        return False

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """The language of the browser is theirs, if they have not chosen one."""
        super().login(request, user)
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
        """Refuse the password that somebody else has set."""
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
