"""Catalogues as request bodies."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from apps.common.api.parsers import BodyTooLarge
from labelhub.core.echo.recommending.catalogue import MOST_BYTES

TABLE = "table"


class CatalogueCsvParser(BaseParser):
    """A table, as its bytes."""

    media_type = "text/csv"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Mapping[str, bytes]:
        """The body, as ``{"table": bytes}``; what reads catalogues decodes it.

        Raises:
            BodyTooLarge: it is larger than a catalogue may be.
        """
        raw: bytes = stream.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise BodyTooLarge(f"A catalogue holds at most {MOST_BYTES // 1_000_000} MB.")
        return {TABLE: raw}


class CatalogueJsonParser(CatalogueCsvParser):
    """A JSON list of items, likewise as bytes."""

    media_type = "application/json"
