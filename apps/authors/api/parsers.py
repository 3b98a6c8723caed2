"""Bodies that are a file."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from apps.authors.services.feature_files import MOST_BYTES
from apps.common.api.parsers import BodyTooLarge

TABLE = "table"


class CsvParser(BaseParser):
    """A table, as its bytes."""

    media_type = "text/csv"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Mapping[str, bytes]:
        """The body, as ``{"table": bytes}``; no JSON holds bytes.

        Raises:
            BodyTooLarge: it is larger than a file of features may be.
        """
        raw: bytes = stream.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise BodyTooLarge(f"A file of features holds at most {MOST_BYTES // 2**20} MB.")
        return {TABLE: raw}
