"""``Idempotency-Key``: a request that is sent again is done once, and gets the same answer.

The key is claimed in a transaction of its own. The request then runs in one transaction that also
stores its answer, so that both are there or neither is, whenever the process is killed. Who repeats
a request whose process was killed waits until its claim lapses. Requests of ``long_actions`` write
in several transactions; killed between the last of them and the stored answer, they run again.

Answers may hold secrets that are shown once: they are stored encrypted, for a day. Errors are not
stored: nothing was done, and the same request may succeed later.
"""

import hashlib
import json
import re
from collections.abc import Callable
from contextlib import nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from django.core.files.uploadedfile import UploadedFile
from django.db import DatabaseError, transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.models import IdempotentRequest
from apps.common.sealing import CannotOpen, seal, unseal
from labelhub.core.errors import Conflict, InvalidInput

HEADER = "Idempotency-Key"
KEPT = timedelta(hours=24)
#: A claim lapses after so long: its process was killed.
CLAIM, LONG_CLAIM = timedelta(seconds=60), timedelta(minutes=15)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class RequestInProgress(Conflict):
    """The first request with this key has not ended."""

    code = "request_in_progress"
    retryable = True


class KeyReused(InvalidInput):
    """Another request had this key."""

    code = "idempotency_key_reused"


def answer_once(
    view: Any, handler: Callable[..., Response], request: Request, *args: Any, **kwargs: Any
) -> HttpResponse:
    """The answer of ``handler``, or the one that it gave to the same request before.

    Raises:
        ParseError: the key is no key.
        KeyReused: the key was used for another request.
        RequestInProgress: the first request is still being done.
    """
    key = request.headers[HEADER]
    if not _KEY.fullmatch(key):
        raise ParseError(f"{HEADER}: send 1 to 255 visible ASCII characters, such as a UUID.")
    long = view.action in view.long_actions
    claim = IdempotentRequest(
        user_id=cast("int", request.user.pk),
        key=key,
        token=uuid4(),
        fingerprint=_fingerprint(request),
        started_at=timezone.now(),
    )
    if (known := _claim(claim, LONG_CLAIM if long else CLAIM)) is not None:
        return _stored_answer(known)
    ours = IdempotentRequest.objects.filter(token=claim.token)
    try:
        with nullcontext() if long else transaction.atomic():
            response = handler(request, *args, **kwargs)
            if response.status_code < 400:
                _store(ours, view.finalize_shown(request, response))
    except BaseException:
        with suppress(DatabaseError):  # then the claim lapses
            ours.delete()
        raise
    if response.status_code >= 400:
        ours.delete()
    return response


def forget_requests() -> None:
    """Delete what is older than a day. Cheap enough for every few seconds."""
    old = IdempotentRequest.objects.filter(started_at__lt=timezone.now() - KEPT)
    if old.exists():
        old.delete()


def _claim(claim: IdempotentRequest, lapses: timedelta) -> IdempotentRequest | None:
    """None if the request is ours to do; otherwise the row with its answer."""
    names = ("fingerprint", "token", "started_at")
    fresh: dict[str, Any] = {name: getattr(claim, name) for name in names}
    row, created = IdempotentRequest.objects.get_or_create(
        user_id=claim.user_id, key=claim.key, defaults=fresh
    )
    if created:
        return None
    age = claim.started_at - row.started_at
    if age < KEPT:
        if row.fingerprint != claim.fingerprint:
            raise KeyReused(f"{HEADER}: another request had this key; use a new one.")
        if row.status is not None:
            return row
        if age < lapses:
            raise RequestInProgress("The first request with this key is still being done.")
    taken = IdempotentRequest.objects.filter(pk=row.pk, token=row.token)
    if not taken.update(**fresh, status=None, body=b""):
        raise RequestInProgress("The first request with this key is still being done.")
    return None


def _store(ours: Any, response: Response) -> None:
    """Store the answer; RequestInProgress if somebody has taken over our claim."""
    response.render()
    stored = {
        "status": response.status_code,
        "content_type": response.get("Content-Type", ""),
        "body": seal(response.content),
    }
    if not ours.update(**stored):
        raise RequestInProgress("The request took too long and is being done again.")


def _stored_answer(row: IdempotentRequest) -> HttpResponse:
    try:
        body = unseal(row.body)
    except CannotOpen:
        raise Conflict("This was done; its answer cannot be shown any more.") from None
    headers = {"Idempotency-Replayed": "true"}
    return HttpResponse(
        body, status=row.status, content_type=row.content_type or None, headers=headers
    )


def _fingerprint(request: Request) -> str:
    """A hash of caller, method, address and body, the same however the body is split or written.

    The caller is the API key, as another one of the person may allow less than the first.
    """
    data = request.data
    body = dict(data.lists()) if hasattr(data, "lists") else data
    parts = [getattr(request.auth, "pk", None), request.method, request.get_full_path(), body]
    text = json.dumps(parts, sort_keys=True, default=_content_hash)
    return hashlib.sha256(text.encode()).hexdigest()


def _content_hash(part: Any) -> str:
    """A hash of a file in a body."""
    if isinstance(part, Path):
        with part.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    found = hashlib.sha256()
    for piece in part.chunks() if isinstance(part, UploadedFile) else [part]:
        found.update(piece)
    if isinstance(part, UploadedFile):
        part.seek(0)
    return found.hexdigest()
