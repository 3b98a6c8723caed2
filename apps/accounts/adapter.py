"""allauth's sign-in, without its public sign-up."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.internal.ratelimit import get_ip
from django.http import HttpRequest


class ClosedSignupAdapter(DefaultAccountAdapter):
    """Only operators and project managers create accounts."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Never."""
        return False

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Count failed sign-ins by name and address: by name alone, five wrong passwords from
        anywhere would lock a person out everywhere."""
        by_name = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{by_name}:{get_ip(request)}"
