"""What every REST resource shares: its addresses, and how it reads and lists."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet
from django_filters import FilterSet
from rest_framework.response import Response
from rest_framework.routers import Route, SimpleRouter
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet


class ApiViewSet(GenericViewSet[Any]):
    """Base of all viewsets. The first line of a method's docstring is its summary in the OpenAPI
    document; its operation id follows from ``basename`` (see ``OperationSchema``)."""

    filterset_class: ClassVar[type[FilterSet] | None] = None
    lookup_value_converter: ClassVar[str] = "int"

    def read_body(
        self, serializer: type[BaseSerializer[Any]], *, partial: bool = False
    ) -> dict[str, Any]:
        """The checked fields of the body.

        Raises:
            ValidationError: naming each field that cannot be used.
        """
        return self.checked(serializer(data=self.request.data, partial=partial))

    def read_query(self, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """The checked query parameters.

        Raises:
            ValidationError: naming each that cannot be used.
        """
        return self.checked(serializer(data=self.request.query_params))

    def list_page(
        self,
        rows: QuerySet[Any] | Sequence[Any],
        serializer: type[BaseSerializer[Any]] | None = None,
    ) -> Response:
        """The page of ``rows`` that is asked for, filtered where there is a filter set."""
        if self.filterset_class is not None and isinstance(rows, QuerySet):
            rows = self.filter_queryset(rows)
        # Sequences are paged as well; the stubs know of querysets alone.
        page: Any = self.paginate_queryset(rows)  # type: ignore[arg-type]
        shown = (serializer or self.get_serializer_class())(
            page, many=True, context=self.get_serializer_context()
        )
        return self.get_paginated_response(shown.data)

    def get_queryset(self) -> QuerySet[Any]:
        """Methods name their rows; from here the OpenAPI document takes the model."""
        if self.queryset is not None:
            return super().get_queryset()
        model = self.get_serializer_class().Meta.model  # type: ignore[attr-defined]  # of a model serializer
        return QuerySet[Any](model).none()

    def checked(self, sent: BaseSerializer[Any]) -> dict[str, Any]:
        """The checked fields; a base of other viewsets may refuse in another way."""
        sent.is_valid(raise_exception=True)
        return dict(sent.validated_data)


class Router(SimpleRouter):
    """Paths with converters, and names with underscores: ``api_run_list``, ``api_run``,
    ``api_run_pause``.

    A viewset without ``lookup_url_kwarg`` is a single thing, or a list of what has no address of
    its own: all of its methods are at the prefix itself.
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
