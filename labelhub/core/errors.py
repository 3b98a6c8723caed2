"""The base class of all expected errors.

An error has a ``code`` (stable, for programs), a message in plain words (what was wrong, where,
what to do), optional ``data`` (JSON detail), and says whether to try again. Its message is a
:class:`~labelhub.core.phrases.Phrase` of the texts and values given.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from labelhub.core.phrases import Phrase

_AT_FIELD = "%(field)s: %(message)s"


class LabelhubError(Exception):
    """Base of all expected errors; ``str(error)`` can be shown to a person."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    http_status: ClassVar[int] = 400

    def __init__(
        self,
        message: str,
        plural: str = "",
        /,
        *,
        data: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> None:
        self.message = Phrase(message, plural, **values)
        super().__init__(self.message)
        self.data: dict[str, Any] = dict(data or {})


class InvalidInput(LabelhubError):
    """Input of a person or program that cannot be used."""

    code = "invalid"
    http_status = 422

    @classmethod
    def at(cls, field: str, message: str, plural: str = "", /, **values: Any) -> Self:
        """The error of one field; forms and REST show it there."""
        words = Phrase(message, plural, **values)
        faults = [{"field": field, "message": words}]
        return cls(_AT_FIELD, field=field, message=words, data={"errors": faults})


class NotFound(LabelhubError):
    """The object does not exist, or the user may not know that it does."""

    code = "not_found"
    http_status = 404


class Forbidden(LabelhubError):
    """The user may see the object but not do this with it."""

    code = "forbidden"
    http_status = 403


class Conflict(LabelhubError):
    """The object has changed, or somebody else holds it."""

    code = "conflict"
    http_status = 409


class TooMany(LabelhubError):
    """More requests than allowed; the same works again later."""

    code = "rate_limited"
    retryable = True
    http_status = 429


class Unavailable(LabelhubError):
    """The server lacks something that it needs: the database, or disk space."""

    code = "unavailable"
    retryable = True
    http_status = 503
