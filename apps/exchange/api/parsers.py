"""Request bodies of any kind, kept as a file instead of being decoded at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rest_framework.parsers import BaseParser

from apps.exchange.services import store_upload

PIECE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class StoredBody:
    """A request body that was written to ``path``."""

    path: Path
    content_type: str


class StoredBodyParser(BaseParser):
    """Takes whatever is posted; ``request.data["body"]`` is a :class:`StoredBody`."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Mapping[str, StoredBody]:
        """Store the body in bounded memory."""
        return {"body": StoredBody(store_upload(_pieces(stream)), media_type or "")}


def _pieces(stream: IO[Any]) -> Iterator[bytes]:
    while piece := stream.read(PIECE):
        yield piece
