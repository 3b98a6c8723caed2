"""Content negotiation of addresses that send or take files."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request


class OneRenderer(BaseContentNegotiation):
    """One renderer: ``?format=`` and Accept mean the file, not the format of errors."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The first parser that takes the content type; None becomes a 415."""
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
