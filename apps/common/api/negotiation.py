"""Content negotiation of addresses that give or take files."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request


class OneRenderer(BaseContentNegotiation):
    """``?format=`` and Accept are about the file, not about how errors are rendered."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The first that takes the content type; None, which is a 415, where there is none."""
        wanted = request.content_type.partition(";")[0].strip()
        return next((parser for parser in parsers if parser.media_type in (wanted, "*/*")), None)

    def select_renderer(
        self,
        request: Request,
        renderers: Any,
        format_suffix: str | None = None,
    ) -> Any:
        """Always the first."""
        return renderers[0], renderers[0].media_type
