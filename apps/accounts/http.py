"""Requests that only signed-in people get through: for annotations, never instantiated."""

from django.http import HttpRequest
from rest_framework.request import Request

from apps.accounts.models import User


class SignedInRequest(HttpRequest):
    """What ``@login_required`` lets through."""

    user: User


class SignedInApiRequest(Request):
    """What REST views get: their default permission is ``IsAuthenticated``."""

    user: User
