"""``ETag`` and ``If-None-Match`` of every GET, ``If-Match`` of changes (RFC 9110, 13).

A tag is a hash of the response, so that no view has to know what its response depends on. Proxies
that compress a response make its tag weak; both forms match.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction
from django.http import HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.request import Request
from rest_framework.response import Response

from labelhub.core.errors import Conflict

CONDITIONAL = ("PATCH", "PUT", "DELETE")


class PreconditionFailed(Conflict):
    """What the address names is no longer what the caller saw."""

    code = "precondition_failed"
    http_status = 412


def tagged(request: Request, response: HttpResponse) -> HttpResponse:
    """The response with its ``ETag``; 304 if a GET names it already."""
    response["ETag"] = tag = _tag_of(response)
    known = _tags(request, "If-None-Match")
    if request.method in ("GET", "HEAD") and not known.isdisjoint({"*", tag}):
        # Without the headers that describe the body.
        kept = {name: value for name, value in response.items() if name != "Content-Type"}
        return HttpResponseNotModified(headers=kept)
    return response


def change_if_match(
    view: Any, handler: Callable[..., Response], request: Request, *args: Any, **kwargs: Any
) -> Response:
    """Call ``handler`` if the address still shows what ``If-Match`` names, in one transaction.

    Raises:
        PreconditionFailed: it does not, or it shows nothing.
    """
    with transaction.atomic():
        view.lock_shown()
        if not hasattr(view, "retrieve"):
            raise PreconditionFailed("This address shows nothing that If-Match could name.")
        shown = view.finalize_shown(request, view.retrieve(request, *args, **kwargs))
        if _tags(request, "If-Match").isdisjoint({"*", _tag_of(shown)}):
            raise PreconditionFailed("It was changed since you read it: read it again.")
        return handler(request, *args, **kwargs)


def lock_address(path: str) -> None:
    """Wait for other conditional changes of the same address. On SQLite the transaction itself
    does."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [path])


def _tag_of(response: HttpResponse) -> str:
    if isinstance(response, Response):
        response.render()
    return f'"{hashlib.blake2b(response.content, digest_size=16).hexdigest()}"'


def _tags(request: Request, header: str) -> set[str]:
    tags = parse_etags(request.headers.get(header, ""))
    return {tag.removeprefix("W/") for tag in tags}
