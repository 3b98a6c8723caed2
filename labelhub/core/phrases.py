"""Texts for people that are written by one process and read in another language by somebody else.

message = Phrase("%(count)s row has a fault", "%(count)s rows have faults", count=3)
message == "3 rows have faults"     # English, for programs, files and logs
str(message)                        # the reader's language; so do templates and forms
Phrase.of(message.data()) == message    # the pattern and its values, as JSON
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, ClassVar, Self

#: The beginning of a stored phrase; other stored texts are English as they are.
STORED = '{"phrase": '


class Phrase(str):
    """An English text that knows its pattern and values.

    Values are texts, numbers, phrases, or lists of these; a ``Decimal`` keeps its decimals.
    ``count`` chooses the plural.
    """

    __slots__ = ("pattern", "plural", "values")
    pattern: str
    plural: str
    values: Mapping[str, Any]
    #: Prints a phrase in the reader's language.
    printer: ClassVar[Callable[["Phrase"], str]]

    def __new__(cls, pattern: str, plural: str = "", /, **values: Any) -> Self:
        """A phrase stays the phrase that it is."""
        if isinstance(pattern, cls) and not values:
            return pattern
        kept = (str, int, float, Decimal, list)
        values = {name: v if isinstance(v, kept) else str(v) for name, v in values.items()}
        text = plural if plural and values["count"] != 1 else pattern
        self = super().__new__(cls, fill_pattern(text, values, _show_in_english))
        self.pattern, self.plural, self.values = pattern, plural, values
        return self

    def __getnewargs_ex__(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        return (self.pattern, self.plural), dict(self.values)

    def __str__(self) -> str:
        return type(self).printer(self)

    def data(self) -> Any:
        """A form for JSON: the text if it has no values."""
        return _whole(self) if self.values else self.pattern

    @classmethod
    def of(cls, data: Any) -> "Phrase":
        """The phrase of such data."""
        if not isinstance(data, dict):
            return cls(data)
        values = {name: _from_json(value) for name, value in data["values"].items()}
        return cls(data["phrase"], data["plural"], **values)

    def stored(self) -> str:
        """A form for a column of texts."""
        if not self.values and not self.pattern.startswith(STORED):
            return self.pattern
        return json.dumps(_whole(self), ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> "Phrase":
        """The phrase of a stored text; a text that only begins like one stays as it is."""
        try:
            return cls.of(json.loads(text) if text.startswith(STORED) else text)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return cls(text)


Phrase.printer = str.__str__


def join_sentences(*sentences: str) -> Phrase:
    """One phrase of all sentences that are not empty."""
    values = {f"part{number}": text for number, text in enumerate(sentences) if text}
    return Phrase(" ".join(f"%({name})s" for name in values), **values)


def fill_pattern(pattern: str, values: Mapping[str, Any], show: Callable[[Any], str]) -> str:
    """``pattern`` with its values, as ``show`` writes them; lists are separated by commas."""
    if not values:
        return pattern
    return pattern % {
        name: ", ".join(map(show, value)) if isinstance(value, list) else show(value)
        for name, value in values.items()
    }


def number_text(value: float | Decimal) -> str:
    """A number with commas between thousands: ``-1,234.5``."""
    if isinstance(value, Decimal):
        return f"{value:,f}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.12g}"


def _show_in_english(value: Any) -> str:
    return str.__str__(value) if isinstance(value, str) else number_text(value)


def _whole(phrase: Phrase) -> dict[str, Any]:
    values = {name: _to_json(value) for name, value in phrase.values.items()}
    return {"phrase": phrase.pattern, "plural": phrase.plural, "values": values}


def _to_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_to_json(part) for part in value]
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    return _whole(value) if isinstance(value, Phrase) else value


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(part) for part in value]
    if isinstance(value, dict) and "decimal" in value:
        return Decimal(value["decimal"])
    return Phrase.of(value) if isinstance(value, dict) else value
