"""Searching a project's items: read a query, find what matches it, count and page it."""

from apps.reviews.selectors.searching.grid import Grid, Row, found_items, read_grid
from apps.reviews.selectors.searching.matching import matching
from apps.reviews.selectors.searching.query import (
    ACTIONS,
    COMMENTED,
    DIFFERING,
    FIELDS,
    STAGES,
    Query,
    read_query,
)
from apps.reviews.selectors.searching.words import terms

__all__ = [
    "ACTIONS",
    "COMMENTED",
    "DIFFERING",
    "FIELDS",
    "STAGES",
    "Grid",
    "Query",
    "Row",
    "found_items",
    "matching",
    "read_grid",
    "read_query",
    "terms",
]
