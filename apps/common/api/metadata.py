"""What OPTIONS answers."""

from typing import Any

from rest_framework.metadata import SimpleMetadata
from rest_framework.request import Request


class ViewMetadata(SimpleMetadata):
    """Name, words and content types of an address; its fields are in the OpenAPI document."""

    def determine_actions(self, request: Request, view: Any) -> dict[str, Any]:
        """None: the framework would look for an object, which few of our addresses have."""
        return {}
