"""From JSON to the records, by their type hints: unknown fields are passed over."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints

from labelhub.client.errors import Problem, UnexpectedAnswer

T = TypeVar("T")
#: Takes the JSON value and where it stands.
Reader = Callable[[Any, str], Any]


class _Field(NamedTuple):
    name: str
    reader: Reader
    optional: bool


def read(kind: type[T], data: Any) -> T:
    """The record of that kind.

    Raises:
        UnexpectedAnswer: a field is missing, or of another type; the message names it.
    """
    return cast(T, reader_of(cast(Any, kind))(data, kind.__name__))


@cache
def reader_of(hint: Any) -> Reader:
    """What reads values of one type hint."""
    if hint is Any:
        return lambda data, _: data
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(_record, hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is UnionType:
        (kept,) = (one for one in inner if one is not NoneType)
        return partial(_optional, reader_of(kept))
    if origin is tuple:
        return partial(_sequence, reader_of(inner[0]))
    if origin is Mapping:
        return partial(_mapping, reader_of(inner[1]))
    return _instant if hint is datetime else partial(_plain, hint)


@cache
def _fields_of(kind: type[Any]) -> tuple[_Field, ...]:
    hints = get_type_hints(kind)
    return tuple(
        _Field(
            one.name,
            reader_of(hints[one.name]),
            one.default is not MISSING or one.default_factory is not MISSING,
        )
        for one in fields(kind)
    )


def _record(kind: type[Any], data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise _unexpected(where, "an object", data)
    return kind(**dict(_given(kind, data, where)))


def _given(kind: type[Any], data: Mapping[str, Any], where: str) -> Iterator[tuple[str, Any]]:
    for name, reader, optional in _fields_of(cast(Any, kind)):
        if optional and data.get(name) is None:
            continue  # the default says what nothing means
        if name not in data:
            raise UnexpectedAnswer(
                f"The server's answer has no {where}.{name}; is this client newer than the server?",
                Problem(code="unexpected_answer"),
            )
        yield name, reader(data[name], f"{where}.{name}")


def _optional(reader: Reader, data: Any, where: str) -> Any:
    return None if data is None else reader(data, where)


def _sequence(reader: Reader, data: Any, where: str) -> Any:
    if not isinstance(data, list):
        raise _unexpected(where, "a list", data)
    return tuple(reader(one, f"{where}[{at}]") for at, one in enumerate(data))


def _mapping(reader: Reader, data: Any, where: str) -> Any:
    if not isinstance(data, Mapping):
        raise _unexpected(where, "an object", data)
    return {str(name): reader(one, f"{where}.{name}") for name, one in data.items()}


def _instant(data: Any, where: str) -> datetime:
    try:
        return datetime.fromisoformat(data)
    except (TypeError, ValueError):
        raise _unexpected(where, "an instant", data) from None


def _plain(kind: type[Any], data: Any, where: str) -> Any:
    wanted = (int, float) if kind is float else kind
    if not isinstance(data, wanted) or (isinstance(data, bool) and kind is not bool):
        raise _unexpected(where, kind.__name__, data)
    return data


def _unexpected(where: str, wanted: str, data: Any) -> UnexpectedAnswer:
    return UnexpectedAnswer(
        f"{where} should be {wanted}, but is {type(data).__name__}.",
        Problem(code="unexpected_answer"),
    )
