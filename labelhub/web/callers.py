"""Recognise callers before Django sees the request."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db import connections
from django.utils.datastructures import CaseInsensitiveMapping

from apps.accounts.authentication import active_key


def is_known_caller(headers: Mapping[bytes, bytes]) -> bool:
    """Whether the headers have an active API key or the cookie of a signed-in user.

    This keeps strangers from filling the disk; rights are checked later. It queries the database,
    so call it in a thread of its own.
    """
    plain = {name.decode("latin1"): value.decode("latin1") for name, value in headers.items()}
    try:
        return active_key(CaseInsensitiveMapping(plain)) is not None or _has_session(plain)
    finally:
        connections.close_all()


def _has_session(headers: Mapping[str, str]) -> bool:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return False
    cookie = cookies.get(settings.SESSION_COOKIE_NAME)
    if cookie is None:
        return False
    return bool(SessionStore(cookie.value).get(SESSION_KEY))
