"""Sessions of people: list them, end them, and notice that one has ended."""

import secrets
from typing import NamedTuple, cast

from allauth.account.adapter import get_adapter
from allauth.core.internal.sessionkit import get_session_user
from allauth.socialaccount.sessions import SessionStore
from allauth.usersessions.models import UserSession
from django.contrib.auth import update_session_auth_hash
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, record
from labelhub.core.errors import NotFound

#: Marks a session that has a row, so that others cost no query.
LISTED = "listed"
#: How often a session notes that it is used, in seconds.
SEEN_EVERY = 300

# Tokens of browsers and systems in user agents; the first that is found counts, as most browsers
# name others too.
BROWSERS = {
    "Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari",
}  # fmt: skip
SYSTEMS = {
    "Android": "Android", "iPhone": "iPhone", "iPad": "iPad", "Windows": "Windows",
    "Mac OS X": "macOS", "CrOS": "ChromeOS", "Linux": "Linux",
}  # fmt: skip


class Device(NamedTuple):
    """What a user agent says; empty where unknown."""

    browser: str
    system: str


def device(user_agent: str) -> Device:
    """Browser and system, as people call them."""
    found = (
        next((name for token, name in names.items() if token in user_agent), "")
        for names in (BROWSERS, SYSTEMS)
    )
    return Device(*found)


def note_use(request: HttpRequest) -> None:
    """Keep when and where the session was last used; at most one write in :data:`SEEN_EVERY`."""
    key = request.session.session_key
    if key and request.session.get(LISTED) and cache.add(f"seen:{key}", True, SEEN_EVERY):  # noqa: FBT003 - a mark
        UserSession.objects.filter(session_key=key).update(
            last_seen_at=timezone.now(),
            ip=get_adapter().get_client_ip(request),
            user_agent=request.headers.get("User-Agent", "")[:200],
        )


def open_sessions(user: User) -> list[UserSession]:
    """The sessions in which ``user`` is signed in, last used first; forgets the others."""
    rows = UserSession.objects.purge_and_list(user)
    return sorted(rows, key=lambda row: row.last_seen_at, reverse=True)


@transaction.atomic
def end_session(user: User, session_id: int) -> None:
    """End one session of ``user``.

    Raises:
        NotFound: they have no such session.
    """
    row = UserSession.objects.filter(user=user, pk=session_id).first()
    if row is None:
        raise NotFound("You have no such session.")
    record(Action.SESSIONS_ENDED, user, changes={"sessions": (1, 0)})
    row.end()


@transaction.atomic
def end_sessions(user: User, keep: HttpRequest | None = None) -> None:
    """End all sessions of ``user``, also such without a row; ``keep`` is theirs and stays."""
    user.session_epoch = secrets.token_hex(8)
    user.save(update_fields=["session_epoch"])
    record(Action.SESSIONS_ENDED, user, changes={"sessions": (None, None)})
    rows = UserSession.objects.filter(user=user)
    if keep is not None:
        update_session_auth_hash(keep, user)  # gives the session a new key
        UserSession.objects.create_from_request(keep)
        rows = rows.exclude(session_key=keep.session.session_key)
    for row in rows:
        row.end()


def is_open(session_key: str | None, user_id: int) -> bool:
    """Whether ``user_id`` is still signed in by that session, as stored now."""
    user = get_session_user(SessionStore(session_key)) if session_key else None
    return user is not None and cast(User, user).pk == user_id
