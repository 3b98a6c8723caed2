"""Base viewset and router of all REST resources.

GETs have an ``ETag`` and heed ``If-None-Match``, changes heed ``If-Match`` (RFC 9110, 13). A tag is
a hash of the response, so that no view has to know what its response depends on. Proxies that
compress a response make its tag weak; both forms match.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags
from django_filters import FilterSet
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import Route, SimpleRouter
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from apps.common.api import idempotency
from apps.common.locks import lock
from labelhub.core.errors import Conflict

CONDITIONAL = ("PATCH", "PUT", "DELETE")
Handler = Callable[..., HttpResponse]


class PreconditionFailed(Conflict):
    """What the address names is no longer what the caller saw."""

    code = "precondition_failed"
    http_status = 412


class ApiViewSet(GenericViewSet[Any]):
    """Base of all viewsets. The first line of a method's docstring becomes its summary in the
    OpenAPI document, ``basename`` its operation id (see ``OperationSchema``)."""

    filterset_class: ClassVar[type[FilterSet] | None] = None
    lookup_value_converter: ClassVar[str] = "int"
    #: Actions that may be done twice, and are no transaction as they wait for other servers.
    repeatable_actions: ClassVar[tuple[str, ...]] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Once the caller is known, heed the headers that change how a write is done."""
        super().initial(request, *args, **kwargs)
        name = str(request.method).lower()
        handler = getattr(self, name, None)
        if request.method in SAFE_METHODS or handler is None:
            return
        if request.method in CONDITIONAL and "If-Match" in request.headers:
            handler = partial(self._change_if_match, handler)
        once = idempotency.HEADER in request.headers and hasattr(request.user, "pk")
        if once and self.action not in self.repeatable_actions:
            handler = partial(idempotency.answer_once, self, handler)
        setattr(self, name, partial(self.answer_write, handler))

    def answer_write(
        self, handler: Handler, request: Request, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The answer to a write; ``handler`` heeds its headers, which may mean a transaction."""
        return handler(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """The response, with its ``ETag`` if it shows what the address names."""
        final: Any = super().finalize_response(request, response, *args, **kwargs)
        # Caches do not know all the headers that keys are sent in.
        final.setdefault("Cache-Control", "private, no-cache")
        shows = request.method in ("GET", "HEAD") or (
            request.method in CONDITIONAL and hasattr(self, "retrieve")
        )
        if shows and final.status_code == 200 and isinstance(final, HttpResponse):
            return _tagged(request, final)
        return final

    def finalize_shown(self, request: Request, response: Response) -> Response:
        """The response ready to be rendered."""
        return super().finalize_response(request, response)

    def lock_shown(self) -> None:
        """Until the transaction ends, nobody else changes by ``If-Match`` what the address shows;
        what was read before is read again."""
        lock(self.request.path)

    def _change_if_match(
        self, handler: Callable[..., Response], request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        """Call ``handler`` if the address still shows what ``If-Match`` names, in one transaction.

        Raises:
            PreconditionFailed: it does not, or it shows nothing.
        """
        with transaction.atomic():
            self.lock_shown()
            retrieve = getattr(self, "retrieve", None)
            if retrieve is None:
                raise PreconditionFailed("This address shows nothing that If-Match could name.")
            shown = self.finalize_shown(request, retrieve(request, *args, **kwargs))
            if _tags(request, "If-Match").isdisjoint({"*", _tag_of(shown)}):
                raise PreconditionFailed("It was changed since you read it: read it again.")
            return handler(request, *args, **kwargs)

    def needed_scope(self) -> str:
        """The scope that an API key needs here."""
        return "read" if self.request.method in SAFE_METHODS else "write"

    def read_body(
        self, serializer: type[BaseSerializer[Any]], *, partial: bool = False
    ) -> dict[str, Any]:
        """The validated fields of the body.

        Raises:
            ValidationError: names each invalid field.
        """
        return self.checked(serializer(data=self.request.data, partial=partial))

    def read_query(self, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """The validated query parameters.

        Raises:
            ValidationError: names each invalid parameter.
        """
        return self.checked(serializer(data=self.request.query_params))

    def list_page(
        self,
        rows: QuerySet[Any] | Sequence[Any],
        serializer: type[BaseSerializer[Any]] | None = None,
    ) -> Response:
        """The requested page of ``rows``, filtered by the filter set if there is one."""
        if self.filterset_class is not None and isinstance(rows, QuerySet):
            rows = self.filter_queryset(rows)
        # Sequences work too; the stubs know only querysets.
        page: Any = self.paginate_queryset(rows)  # type: ignore[arg-type]
        shown = (serializer or self.get_serializer_class())(
            page, many=True, context=self.get_serializer_context()
        )
        return self.get_paginated_response(shown.data)

    def get_queryset(self) -> QuerySet[Any]:
        """Only for the OpenAPI document, which reads the model; methods have their own rows."""
        if self.queryset is not None:
            return super().get_queryset()
        model = self.get_serializer_class().Meta.model  # type: ignore[attr-defined]  # of a model serializer
        return QuerySet[Any](model).none()

    def checked(self, sent: BaseSerializer[Any]) -> dict[str, Any]:
        """The validated fields; subclasses may raise other errors."""
        sent.is_valid(raise_exception=True)
        return dict(sent.validated_data)


def _tagged(request: Request, response: HttpResponse) -> HttpResponse:
    """The response with its ``ETag``; 304 if a GET names it already."""
    response["ETag"] = tag = _tag_of(response)
    known = _tags(request, "If-None-Match")
    if request.method in SAFE_METHODS and not known.isdisjoint({"*", tag}):
        # Without the headers that describe the body.
        kept = {name: value for name, value in response.items() if name != "Content-Type"}
        return HttpResponseNotModified(headers=kept)
    return response


def _tag_of(response: HttpResponse) -> str:
    if isinstance(response, Response):
        response.render()
    return f'"{hashlib.blake2b(response.content, digest_size=16).hexdigest()}"'


def _tags(request: Request, header: str) -> set[str]:
    tags = parse_etags(request.headers.get(header, ""))
    return {tag.removeprefix("W/") for tag in tags}


class Router(SimpleRouter):
    """Paths with converters, and names with underscores: ``api_run_list``, ``api_run``,
    ``api_run_pause``.

    All methods of a viewset without ``lookup_url_kwarg`` have the address of the prefix itself: it
    is a single resource, or a list of rows without an address.
    """

    routes = [
        route._replace(name=name)
        for route, name in zip(
            SimpleRouter.routes,
            ("{basename}_list", "{basename}_{url_name}", "{basename}", "{basename}_{url_name}"),
            strict=True,
        )
    ]

    def __init__(self) -> None:
        super().__init__(use_regex_path=False)

    def get_routes(self, viewset: Any) -> list[Route]:
        """The addresses of ``viewset``."""
        found = super().get_routes(viewset)
        if viewset.lookup_url_kwarg is not None:
            return found
        routes = {route.name: route for route in found}
        several, single = routes["{basename}_list"], routes["{basename}"]
        mapping = single.mapping | several.mapping
        if not hasattr(viewset, "list"):
            mapping["get"] = "retrieve"
        whole = single._replace(url=several.url, mapping=mapping)
        return [whole, *(route for route in found if not route.detail and route is not several)]
