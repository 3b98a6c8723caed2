"""Sign-in as allauth does it, without its public sign-up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedSignupAdapter(DefaultAccountAdapter):
    """Accounts are made by operators and project managers only."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Never."""
        return False
