"""Request bodies: tables as bytes, and JSON without values that cannot be stored or sent.

JSON can contain text and numbers that no database column, UTF-8 response or 64-bit integer takes.
If one were stored, every list and export with it would fail.
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
#: The key of a table's bytes in the parsed body.
TABLE = "table"


class BodyTooLarge(APIException):
    """The body is too large to read into memory."""

    status_code = 413
    default_code = "too_large"
    default_detail = "The body is too large: send a file to the project's import/ instead."


class TableParser(BaseParser):
    """A table as the body, undecoded: ``{"table": bytes}``.

    ``most``: its maximum size in bytes; ``what``: its name in errors.
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
        """The undecoded body.

        Raises:
            BodyTooLarge: it exceeds ``most``.
        """
        raw: bytes = stream.read(self.most + 1)
        self.check_size(len(raw))
        return {TABLE: raw}

    @classmethod
    def check_size(cls, size: int) -> None:
        """Refuse a table of more than ``most`` bytes.

        Raises:
            BodyTooLarge: ``size`` exceeds it.
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
            ParseError: it is not JSON, is nested too deep, or holds a value that cannot be stored.
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
    """Raise ParseError for values that cannot be stored; ``where``: the outermost field."""
    if isinstance(value, str):
        _check_text(value, where)
    elif value in (float("inf"), float("-inf")):
        raise _parse_error(where, "A number is too large.")
    elif isinstance(value, int):
        if abs(value) > MOST_INTEGER:
            raise _parse_error(where, "A whole number is too large: it must fit into 64 bits.")
    elif isinstance(value, list | dict):
        if level > MOST_LEVELS:
            raise _parse_error(where, f"This is nested more than {MOST_LEVELS} levels deep.")
        named = value.items() if isinstance(value, dict) else [("", inner) for inner in value]
        for name, inner in named:
            _check_text(name, where)
            _check(inner, level + 1, where or name)


def _check_text(text: str, where: str) -> None:
    if "\0" in text:
        raise _parse_error(where, "A text contains a NUL character.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _parse_error(where, "A text contains half of a character pair.") from None


def _parse_error(where: str, words: str) -> ParseError:
    return ParseError(f"{where}: {words}" if where else words)
