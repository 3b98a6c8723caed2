"""Pages of lists: ``?page=&page_size=``."""

from typing import Any

from rest_framework import pagination
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request

_MOST_DIGITS = 4
#: Rows of a page at most.
MOST = 1000


class _SizedPages:
    page_size: int | None
    page_size_query_param: str | None = "page_size"

    def get_page_size(self, request: Request) -> int | None:
        """The requested page size.

        Raises:
            ValidationError: it is no number, or out of range.
        """
        asked = request.query_params.get("page_size")
        if asked is None:
            return self.page_size
        # Check the length first: Python refuses to parse thousands of digits.
        is_number = len(asked) <= _MOST_DIGITS and asked.isascii() and asked.isdigit()
        if not (is_number and 1 <= int(asked) <= MOST):
            message = f"must be a whole number from 1 to {MOST}."
            raise ValidationError({"page_size": message})
        return int(asked)


class PageNumberPagination(_SizedPages, pagination.PageNumberPagination):
    """``{"count", "next", "previous", "results"}``; at most 1000 rows a page."""

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """The parameters for the OpenAPI document, with the bounds of ``page_size``."""
        page, size = super().get_schema_operation_parameters(view)
        size["schema"] |= {"minimum": 1, "maximum": MOST}
        return [page, size]


class NewestFirst(_SizedPages, pagination.CursorPagination):
    """``{"next", "previous", "results"}`` by ``?cursor=``: new rows shift no page, and no page is
    slower than the first."""

    ordering = "-pk"

    def decode_cursor(self, request: Request) -> Any:
        """The position in ``cursor``.

        Raises:
            ValidationError: it is none; the framework's 404 would mean that the list is gone.
        """
        try:
            return super().decode_cursor(request)
        except NotFound:
            raise ValidationError({"cursor": "Follow next or previous of an answer."}) from None

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        """The parameters for the OpenAPI document."""
        cursor, size = super().get_schema_operation_parameters(view)
        size["schema"] |= {"minimum": 1, "maximum": MOST}
        return [cursor, size]
