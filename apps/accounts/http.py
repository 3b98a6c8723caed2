"""Types of requests with a signed-in user, for annotations only."""

from django.http import HttpRequest
from rest_framework.request import Request

from apps.accounts.models import User


class SignedInRequest(HttpRequest):
    """A request that passed ``@login_required``."""

    user: User


class SignedInApiRequest(Request):
    """A request of a REST view, whose default permission is ``IsAuthenticated``."""

    user: User
