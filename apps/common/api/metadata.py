"""Responses to OPTIONS."""

from typing import Any

from rest_framework.metadata import SimpleMetadata
from rest_framework.request import Request


class ViewMetadata(SimpleMetadata):
    """Name, description and content types; the OpenAPI document has the fields."""

    def determine_actions(self, request: Request, view: Any) -> dict[str, Any]:
        """None: the framework would look up an object, which few of our views have."""
        return {}
