"""What django-scim2 asks of every request: its token, and which rows it may see."""

import hmac
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django_scim.constants import SCIM_CONTENT_TYPE, SchemaURI
from django_scim.exceptions import NotFoundError

from apps.accounts.models import User
from apps.common.audit import acting

logger = logging.getLogger(__name__)


def require_token(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """401 without the directory's token."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
        known = settings.LABELHUB_SCIM_TOKEN.encode()
        if scheme.lower() == "bearer" and known and hmac.compare_digest(sent.encode(), known):
            with acting(request, via="SCIM"):
                return view(request, *args, **kwargs)
        logger.warning("SCIM without its token from %s", request.META.get("REMOTE_ADDR"))
        body = {"schemas": [SchemaURI.ERROR], "status": "401", "detail": "The token is wrong."}
        headers = {"WWW-Authenticate": 'Bearer realm="LabelHub SCIM"'}
        return JsonResponse(body, status=401, content_type=SCIM_CONTENT_TYPE, headers=headers)

    return checked


def base_location(request: HttpRequest) -> str:
    """This server's address, as the directory calls it."""
    return request.build_absolute_uri("/")


def row_filter(model: object) -> Callable[..., dict[str, Any]]:
    """What a lookup by id is narrowed to: accounts that the directory made."""

    def narrow(_request: HttpRequest, row_id: str | None = None) -> dict[str, Any]:
        if row_id is None:
            return {}
        if not (row_id.isascii() and row_id.isdecimal() and len(row_id) < 19):
            raise NotFoundError(row_id)
        return {"scim_name__gt": ""} if model is User else {}

    return narrow


def row_exclusion(model: object) -> Callable[..., dict[str, Any]]:
    """What lists leave out: accounts that the directory did not make."""
    return lambda _request, *_args: {"scim_name": ""} if model is User else {}
