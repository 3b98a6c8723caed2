"""``Idempotency-Key``: a request that is sent again is done once, and gets the same answer.

A request runs in one transaction that also stores its answer: both are there or neither is,
whenever the process is killed, and it can be repeated at once. Meanwhile the same request is
excluded by a lock of the transaction: on PostgreSQL it is told to wait, on SQLite, which has one
writer at a time, it waits.

What such a request only begins, as an import does, goes on after its transaction; who repeats it
gets the present state of the same work.

Answers may hold secrets that are shown once: they are stored encrypted, for a day. Errors are not
stored: nothing was done, and the same request may succeed later.
"""

import hashlib
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.locks import try_lock
from apps.common.models import IdempotentRequest
from apps.common.sealing import CannotOpen, seal, unseal
from labelhub.core.errors import Conflict, InvalidInput

HEADER = "Idempotency-Key"
#: The header of an answer that was given before.
REPLAYED = "Idempotency-Replayed"
KEPT = timedelta(hours=24)
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
    user_id, fingerprint = cast("int", request.user.pk), _fingerprint(request)
    with transaction.atomic():
        if not try_lock(f"request {user_id} {key}"):
            raise RequestInProgress("The first request with this key is still being done.")
        rows = IdempotentRequest.objects.filter(user=user_id, key=key, status__isnull=False)
        known = rows.filter(started_at__gt=timezone.now() - KEPT).first()
        if known is None:
            response = handler(request, *args, **kwargs)
            if response.status_code < 400:
                _store(user_id, key, fingerprint, view.finalize_shown(request, response))
            return response
    if known.fingerprint != fingerprint:
        raise KeyReused(f"{HEADER}: another request had this key; use a new one.")
    return _stored_answer(known)


def forget_requests() -> None:
    """Delete what is older than a day. Cheap enough for every few seconds."""
    old = IdempotentRequest.objects.filter(started_at__lt=timezone.now() - KEPT)
    if old.exists():
        old.delete()


def _store(user_id: int, key: str, fingerprint: str, response: Response) -> None:
    response.render()
    stored = {
        "token": uuid4(),
        "fingerprint": fingerprint,
        "started_at": timezone.now(),
        "status": response.status_code,
        "content_type": response.get("Content-Type", ""),
        "body": seal(response.content),
    }
    IdempotentRequest.objects.update_or_create(user_id=user_id, key=key, defaults=stored)


def _stored_answer(row: IdempotentRequest) -> HttpResponse:
    try:
        body = unseal(row.body)
    except CannotOpen:
        raise Conflict("This was done; its answer cannot be shown any more.") from None
    headers = {REPLAYED: "true"}
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
