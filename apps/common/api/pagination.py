"""How lists are paged: ``?page=&page_size=``."""

from rest_framework import pagination


class PageNumberPagination(pagination.PageNumberPagination):
    """``{"count", "next", "previous", "results"}``; at most 1000 rows a page."""

    page_size_query_param = "page_size"
    max_page_size = 1000
