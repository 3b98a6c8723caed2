"""How lists are paged: ``?page=&page_size=``."""

from typing import Any

from rest_framework import pagination
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request


class PageNumberPagination(pagination.PageNumberPagination):
    """``{"count", "next", "previous", "results"}``; at most 1000 rows a page."""

    page_size_query_param = "page_size"
    max_page_size = 1000

    def get_page_size(self, request: Request) -> int | None:
        """As asked for.

        Raises:
            ValidationError: it is none, or more than there may be.
        """
        asked = request.query_params.get(self.page_size_query_param)
        if asked is None:
            return self.page_size
        if not (asked.isascii() and asked.isdigit() and 1 <= int(asked[:9]) <= self.max_page_size):
            words = f"must be a whole number from 1 to {self.max_page_size}."
            raise ValidationError({self.page_size_query_param: words})
        return int(asked)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """With the bounds of ``page_size`` for the OpenAPI document."""
        page, size = super().get_schema_operation_parameters(view)
        size["schema"] |= {"minimum": 1, "maximum": self.max_page_size}
        return [page, size]
