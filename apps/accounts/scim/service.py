"""What django-scim2 asks of every request: its token, which rows it may see, and search by."""

import hmac
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django_scim.constants import SCIM_CONTENT_TYPE, SchemaURI
from django_scim.exceptions import NotFoundError
from scim2_filter_parser.lexer import SCIMLexer
from scim2_filter_parser.parser import SCIMParser
from scim2_filter_parser.transpilers.django_q_object import Transpiler

from apps.accounts.models import DirectoryGroup, User
from apps.common.addresses import parse_row_id
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
        if parse_row_id(row_id) is None:
            raise NotFoundError(row_id)
        return {"scim_name__gt": ""} if model is User else {}

    return narrow


def row_exclusion(model: object) -> Callable[..., dict[str, Any]]:
    """What lists leave out: accounts that the directory did not make."""
    return lambda _request, *_args: {"scim_name": ""} if model is User else {}


class _KnownOnly(Transpiler):
    """Refuses attributes that cannot be searched; else a filter would match more than it says."""

    def visit_AttrPath(self, node: Any) -> str:  # noqa: N802 - as the library calls it
        """The field."""
        field = super().visit_AttrPath(node)
        if field is None:
            raise ValueError(f"{node.attr_name} cannot be searched")
        return str(field)


class UserSearch:
    """What accounts can be found by."""

    model: type[Model] = User
    attr_map = {
        ("userName", None, None): "scim_name",
        ("externalId", None, None): "scim_external_id",
        ("emails", None, None): "email",
        ("emails", "value", None): "email",
        ("active", None, None): "is_active",
        ("name", "givenName", None): "first_name",
        ("name", "familyName", None): "last_name",
    }

    @classmethod
    def search(cls, filter_query: str, _request: HttpRequest | None = None) -> QuerySet[Any]:
        """The rows that the filter finds.

        Raises:
            ValueError: an attribute or an operator cannot be searched.
        """
        parsed = SCIMParser().parse(SCIMLexer().tokenize(filter_query))
        found: Q = _KnownOnly(cls.attr_map).transpile(parsed)
        return QuerySet(cls.model).filter(found).order_by("pk")


class GroupSearch(UserSearch):
    """What groups can be found by."""

    model = DirectoryGroup
    attr_map = {
        ("displayName", None, None): "name",
        ("externalId", None, None): "external_id",
    }
