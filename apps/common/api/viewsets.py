"""Base viewset and router of all REST resources."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.db.models import QuerySet
from django_filters import FilterSet
from rest_framework.response import Response
from rest_framework.routers import Route, SimpleRouter
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet


class ApiViewSet(GenericViewSet[Any]):
    """Base of all viewsets. The first line of a method's docstring becomes its summary in the
    OpenAPI document, ``basename`` its operation id (see ``OperationSchema``)."""

    filterset_class: ClassVar[type[FilterSet] | None] = None
    lookup_value_converter: ClassVar[str] = "int"

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
