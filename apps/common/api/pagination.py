"""How lists are paged: ``?page=&page_size=``."""

from typing import Any

from rest_framework import pagination
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

_MOST_DIGITS = 4


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
        # Short first: to read a number of thousands of digits is refused by Python itself.
        is_number = len(asked) <= _MOST_DIGITS and asked.isascii() and asked.isdigit()
        if not (is_number and 1 <= int(asked) <= self.max_page_size):
            words = f"must be a whole number from 1 to {self.max_page_size}."
            raise ValidationError({self.page_size_query_param: words})
        return int(asked)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """With the bounds of ``page_size`` for the OpenAPI document."""
        page, size = super().get_schema_operation_parameters(view)
        size["schema"] |= {"minimum": 1, "maximum": self.max_page_size}
        return [page, size]
