"""``?since=``: lists that a program reads on from where it was."""

from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from apps.common.api.pagination import PageNumberPagination
from apps.common.feeds import read_cursor, settled_keys, write_cursor

SINCE = "since"
HELP = (
    "Only what came after this cursor, each row once: `0`, or `since` of the last answer. `next` "
    "is null when there is no more now."
)


class FeedPagination(PageNumberPagination):
    """Pages, or with ``since`` the rows that were added after a cursor. The view has a project."""

    cursor = ""
    link: str | None = None

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> list[Any] | None:
        """One page.

        Raises:
            InvalidInput: the cursor is none.
        """
        if SINCE not in request.query_params:
            return super().paginate_queryset(queryset, request, view)
        if self.page_query_param in request.query_params:
            raise ValidationError({SINCE: "Send either page or since."})
        rows: QuerySet[Any] = queryset
        project = view.project.pk
        (after,) = read_cursor(request.query_params[SINCE], project, 1)
        settled = settled_keys([rows.model])
        top = after if settled is None else max(after, settled[0])
        size = self.get_page_size(request) or 0
        page = list(rows.filter(pk__gt=after, pk__lte=top).order_by("pk")[:size])
        full = len(page) == size
        self.cursor = write_cursor(project, [page[-1].pk if full else top])
        url = request.build_absolute_uri()
        self.link = replace_query_param(url, SINCE, self.cursor) if full else None
        return page

    def get_paginated_response(self, data: Any) -> Response:
        """The page, with the cursor for the next request."""
        if not self.cursor:
            return super().get_paginated_response(data)
        body = {"count": len(data), "next": self.link, "previous": None, "results": data}
        return Response(body | {SINCE: self.cursor})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """For the OpenAPI document."""
        shown: dict[str, Any] = super().get_paginated_response_schema(schema)
        shown["properties"][SINCE] = {"type": "string", "description": "The next cursor."}
        shown["properties"]["count"]["description"] = "All rows; with `since`, those of this page."
        return shown

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """For the OpenAPI document."""
        since = {"name": SINCE, "required": False, "in": "query", "description": HELP}
        return [
            *super().get_schema_operation_parameters(view),
            since | {"schema": {"type": "string"}},
        ]
