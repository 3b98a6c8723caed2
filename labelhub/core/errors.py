"""The one base class of everything that can go wrong and be explained to a person.

An error knows its ``code`` (stable, for programs), its message (plain words: what was wrong, where,
what to do), optional ``data`` (JSON-ready detail) and whether trying again is of use. The edges
(REST, htmx, websocket, task) only translate.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self


class LabelhubError(Exception):
    """Base of all expected errors; ``str(error)`` is fit to be shown to a person."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    http_status: ClassVar[int] = 400

    def __init__(self, message: str, *, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.data: dict[str, Any] = dict(data or {})


class InvalidInput(LabelhubError):
    """Something a person or program sent cannot be used as it is."""

    code = "invalid"
    http_status = 422

    @classmethod
    def at(cls, field: str, message: str) -> Self:
        """The fault of one field; forms and REST show it there."""
        faults = [{"field": field, "message": message}]
        return cls(f"{field}: {message}", data={"errors": faults})


class NotFound(LabelhubError):
    """The thing does not exist, or the asker may not know that it does."""

    code = "not_found"
    http_status = 404


class Forbidden(LabelhubError):
    """The asker may see the thing but not do this with it."""

    code = "forbidden"
    http_status = 403


class Conflict(LabelhubError):
    """The thing changed meanwhile, or is held by somebody else."""

    code = "conflict"
    http_status = 409


class Unavailable(LabelhubError):
    """Something that the server stands on is away: the database, or room on its disk."""

    code = "unavailable"
    retryable = True
    http_status = 503
