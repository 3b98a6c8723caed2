"""Request bodies: tables as their bytes, and JSON without what would break the server later on.

JSON can spell what no database column, no UTF-8 answer and no 64-bit number takes. Stored once,
such a value would make every list and export that holds it fail; so it is refused at the door.
"""

from collections.abc import Mapping
from typing import IO, Any, ClassVar

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser, JSONParser
from rest_framework.settings import api_settings
from rest_framework.utils import json

MOST_LEVELS = 64
MOST_INTEGER = 2**63 - 1
#: Under which a table's bytes are in what was sent; no JSON holds bytes.
TABLE = "table"


class BodyTooLarge(APIException):
    """More than a body that is read into memory may hold."""

    status_code = 413
    default_code = "too_large"
    default_detail = "The body is too large; send a file to the project's import/ instead."


class TableParser(BaseParser):
    """A table as the body, kept as its bytes: ``{"table": bytes}``; what reads tables decodes it.

    ``most``: bytes that it may hold; ``what``: it is, in words.
    """

    media_type = "text/csv"
    most: ClassVar[int]
    what: ClassVar[str]

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Mapping[str, bytes]:
        """The body, not decoded.

        Raises:
            BodyTooLarge: it exceeds ``most``.
        """
        raw: bytes = stream.read(self.most + 1)
        self.check_size(len(raw))
        return {TABLE: raw}

    @classmethod
    def check_size(cls, size: int) -> None:
        """Refuse more bytes than it may hold, however they came.

        Raises:
            BodyTooLarge: there are more.
        """
        if size > cls.most:
            raise BodyTooLarge(f"{cls.what} holds at most {cls.most // 1_000_000} MB.")


class PlainJSONParser(JSONParser):
    """JSON of bounded size, depth and numbers; text that UTF-8 and databases can hold."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The decoded body.

        Raises:
            ParseError: it is not JSON, or holds what is said above.
            BodyTooLarge: it exceeds DATA_UPLOAD_MAX_MEMORY_SIZE.
        """
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        raw = stream.read(most + 1)
        if len(raw) > most:
            raise BodyTooLarge
        encoding = (parser_context or {}).get("encoding") or settings.DEFAULT_CHARSET
        strict = json.strict_constant if api_settings.STRICT_JSON else None
        try:
            data = json.loads(raw.decode(encoding), parse_constant=strict)
        except (ValueError, LookupError) as error:
            raise ParseError(f"This is not JSON: {error}") from None
        except RecursionError:
            raise ParseError("This is nested too deep.") from None
        _check(data)
        return data


def _check(value: Any, level: int = 1, where: str = "") -> None:
    """Raises for what cannot be stored; ``where`` is the field of the outermost object."""
    if isinstance(value, str):
        _check_text(value, where)
    elif isinstance(value, float | int):
        _check_number(value, where)
    elif isinstance(value, list | dict):
        if level > MOST_LEVELS:
            raise _refused(where, f"This is nested more than {MOST_LEVELS} levels deep.")
        named = value.items() if isinstance(value, dict) else [("", inner) for inner in value]
        for name, inner in named:
            _check_text(name, where)
            _check(inner, level + 1, where or name)


def _check_number(number: float, where: str) -> None:
    if number in (float("inf"), float("-inf")):
        raise _refused(where, "A number is too large.")
    if isinstance(number, int) and abs(number) > MOST_INTEGER:
        raise _refused(where, "A whole number is too large; it must fit into 64 bits.")


def _check_text(text: str, where: str) -> None:
    if "\0" in text:
        raise _refused(where, "A text contains a NUL character.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _refused(where, "A text contains half of a character pair.") from None


def _refused(where: str, words: str) -> ParseError:
    return ParseError(f"{where}: {words}" if where else words)
