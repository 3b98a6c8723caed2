"""A list as an answer; how lists are paged is told by ``pagination``, which views are made with."""

from collections.abc import Sequence
from typing import TypeVar, cast

from django.db.models import Model, QuerySet
from rest_framework.generics import GenericAPIView
from rest_framework.response import Response

Row = TypeVar("Row", bound=Model)


def paged(view: GenericAPIView[Row], rows: QuerySet[Row] | Sequence[Row]) -> Response:
    """The page of ``rows`` that was asked for, as the view's serializer tells them."""
    # Sequences are paged as well; the stubs know of querysets alone.
    page = view.paginate_queryset(cast("QuerySet[Row]", rows))
    return view.get_paginated_response(view.get_serializer(page, many=True).data)
