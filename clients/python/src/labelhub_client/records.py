"""The server's objects, with fields named as in the OpenAPI document."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from labelhub_client.errors import FieldMissing

#: Fields that hold people's own data, which stay plain JSON.
OWN_DATA = {"context", "evidence", "meta", "options", "params", "settings", "value"}


class Record(SimpleNamespace):
    """An object: ``run.status``, or ``scores["accuracy"]`` for names that are data themselves.

    Iteration gives the names of the fields; ``vars(record)`` is a dict of them. Times in fields
    whose name ends in ``_at`` are datetimes with a time zone.
    """

    def __getattr__(self, name: str) -> Any:  # called only for missing names
        raise FieldMissing(
            f"The server's answer has no {name!r}, but {', '.join(self) or 'nothing'}; "
            "the client may be newer than the server."
        )

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    def __contains__(self, name: object) -> bool:
        return name in vars(self)

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self))

    def __len__(self) -> int:
        return len(vars(self))


def make_records(data: Any, name: str = "") -> Any:
    """JSON in which objects have become records; ``name`` is the field that holds it."""
    if name in OWN_DATA:
        return data
    if isinstance(data, dict):
        return Record(**{field: make_records(value, field) for field, value in data.items()})
    if isinstance(data, list):
        return [make_records(value) for value in data]
    if isinstance(data, str) and name.endswith("_at"):
        with suppress(ValueError):  # a few are no times, such as the stage that dropped a message
            return datetime.fromisoformat(data)
    return data
