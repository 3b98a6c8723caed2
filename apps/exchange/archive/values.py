"""The values of a row in an archive: JSON out of the database, and checked on the way back.

An archive is input from a stranger. A value is what its column may hold, or it is refused: type,
length, range, choices, validators, no text that a database cannot store, and no phrase whose
pattern would do more than to show its values.
"""

import math
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.backends.base.operations import BaseDatabaseOperations
from django.utils import timezone

from apps.common.phrases import PhraseField
from labelhub.core.errors import LabelhubError
from labelhub.core.phrases import Phrase
from labelhub.core.schema import unstorable

#: JSON that nests deeper is no data of ours.
DEEPEST = 60
Check = Callable[[Any], Any]
_Field = models.Field[Any, Any]
_PATTERN = re.compile(r"(?:[^%]|%%|%\(\w+\)s)*", re.DOTALL)


class BadValue(ValueError):
    """A value that its column does not take; the text is a phrase."""


def writer_of(field: _Field) -> Callable[[Any], Any] | None:
    """What turns a stored value that is not None into JSON; None if it is JSON already."""
    if isinstance(field, PhraseField):
        return lambda text: text.stored()
    if isinstance(field, models.DateField):  # and times
        return lambda moment: moment.isoformat()
    if isinstance(field, models.UUIDField | models.DecimalField):
        return str
    return None


def reader_of(field: _Field) -> Check:
    """What turns JSON into the value of a column.

    Raises (the returned function):
        BadValue: the column does not take it.
    """
    read = _reader(field)
    checks = [
        check
        for check in field.validators
        if not (isinstance(check, MaxLengthValidator) and isinstance(field, models.CharField))
    ]
    choices = {value for value, _ in field.flatchoices} if field.choices else None
    if choices is not None and field.blank:
        choices.add("")

    def checked(raw: Any) -> Any:
        if raw is None and field.null:
            return None
        value = read(raw)
        if choices is not None and value not in choices:
            raise BadValue(Phrase("is none of the values that LabelHub knows"))
        if value not in field.empty_values:
            for check in checks:
                try:
                    check(value)
                except ValidationError as error:
                    raise BadValue(" ".join(error.messages)) from None
        return value

    return checked


def _reader(field: _Field) -> Check:
    if isinstance(field, models.JSONField):
        return partial(_json, expected=field.default if field.default in (dict, list) else object)
    if isinstance(field, models.IntegerField):
        # Those of PostgreSQL, as SQLite has none.
        low, high = BaseDatabaseOperations.integer_field_ranges[field.get_internal_type()]
        return partial(_whole, least=low, most=high)
    for kind, read in _READERS:
        if isinstance(field, kind):
            return read
    if isinstance(field, models.CharField | models.TextField):
        return partial(_text, longest=field.max_length or math.inf)
    raise TypeError(f"Archives cannot hold {field}: say in LEFT_OUT why it does not travel.")


def _typed(raw: Any, kind: type) -> Any:
    if type(raw) is not kind:
        raise BadValue(Phrase("is of another type"))
    return raw


def _whole(raw: Any, least: int | None = None, most: int | None = None) -> int:
    value: int = _typed(raw, int)
    if (least is not None and value < least) or (most is not None and value > most):
        raise BadValue(Phrase("is out of range"))
    return value


def _number(raw: Any) -> float:
    try:
        if type(raw) in (int, float) and math.isfinite(number := float(raw)):
            return number
    except OverflowError:
        pass
    raise BadValue(Phrase("is no finite number"))


def _text(raw: Any, longest: float = math.inf) -> str:
    text: str = _typed(raw, str)
    if len(text) > longest:
        raise BadValue(Phrase("has more than %(longest)s characters", longest=int(longest)))
    if bad := unstorable(text):
        raise BadValue(Phrase("has %(bad)s", bad=bad))
    return text


def _parsed(raw: Any, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(_text(raw, 100))
    except (ValueError, ArithmeticError) as error:
        if isinstance(error, BadValue):
            raise
        raise BadValue(Phrase("cannot be read")) from None


def _moment(raw: Any) -> datetime:
    moment: datetime = _parsed(raw, datetime.fromisoformat)
    if timezone.is_naive(moment):
        raise BadValue(Phrase("is a time without its zone"))
    return moment


def _json(raw: Any, expected: type) -> Any:
    if not isinstance(raw, expected):
        raise BadValue(Phrase("is of another type"))
    todo = [(raw, 0)]
    while todo:
        value, depth = todo.pop()
        if depth > DEEPEST:
            raise BadValue(Phrase("is nested too deep"))
        if isinstance(value, str):
            _text(value)
        elif isinstance(value, float):
            _number(value)
        elif isinstance(value, dict):
            todo += [(name, depth + 1) for name in value]
            todo += [(part, depth + 1) for part in value.values()]
        elif isinstance(value, list):
            todo += [(part, depth + 1) for part in value]
    return raw


def _phrase(raw: Any) -> Phrase:
    phrase = Phrase.read(_text(raw))
    for part in _phrases_in(phrase):
        if part.values and not (
            _PATTERN.fullmatch(part.pattern) and _PATTERN.fullmatch(part.plural)
        ):
            raise BadValue(Phrase("has a pattern that LabelHub does not use"))
    try:
        str(phrase)
    except (LookupError, TypeError, ValueError, LabelhubError):
        raise BadValue(Phrase("lacks a value of its pattern")) from None
    return phrase


def _phrases_in(value: Any) -> Iterator[Phrase]:
    if isinstance(value, Phrase):
        yield value
        for part in value.values.values():
            yield from _phrases_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from _phrases_in(part)


#: Kind of field → what reads its values.
_READERS: tuple[tuple[type[_Field], Check], ...] = (
    (models.ForeignKey, _whole),
    (PhraseField, _phrase),
    (models.BooleanField, partial(_typed, kind=bool)),
    (models.FloatField, _number),
    (models.DecimalField, partial(_parsed, parse=Decimal)),
    (models.DateTimeField, _moment),
    (models.DateField, partial(_parsed, parse=date.fromisoformat)),
    (models.UUIDField, partial(_parsed, parse=UUID)),
)
