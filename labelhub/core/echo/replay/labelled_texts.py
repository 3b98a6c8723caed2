"""Read labelled texts from a file: fields for text and label, and bands of numbers."""

import csv
import io
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from labelhub.core.echo.models import MOST_VALUES
from labelhub.core.errors import InvalidInput
from labelhub.core.similarity import same_text_key

MOST_BYTES = 64_000_000
DELIMITERS = (",", ";", "\t")


class Row(NamedTuple):
    """One row: its first line, its fields, and why it is unreadable ("" if it is readable)."""

    line: int
    fields: Mapping[str, Any]
    fault: str = ""


def read_rows(source: bytes) -> Iterator[Row]:
    """The rows of a file without blank lines; its first character decides the format.

    Raises:
        InvalidInput: it is too large, not UTF-8, or of another format.
    """
    if len(source) > MOST_BYTES:
        raise InvalidInput(f"The file is larger than {MOST_BYTES // 1_000_000} MB.")
    text = _text(source)
    first = text.lstrip()[:1]
    if not first:
        raise InvalidInput("The file is empty.")
    if first == "[":
        raise InvalidInput("The file is a JSON list; write one object a line (JSON lines).")
    return _json_rows(text) if first == "{" else _csv_rows(text)


def _text(source: bytes) -> str:
    try:
        return source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        raise InvalidInput(f"The file is not UTF-8 (line {line}).") from None


def _json_rows(text: str) -> Iterator[Row]:
    # Not splitlines(): strings may hold other line separators as they are.
    for line, written in enumerate(text.split("\n"), start=1):
        if written.strip():
            yield _json_row(line, written)


def _json_row(line: int, written: str) -> Row:
    try:
        found = json.loads(written, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return Row(line, {}, "is no JSON")
    return Row(line, found) if isinstance(found, dict) else Row(line, {}, "is no JSON object")


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _csv_rows(text: str) -> Iterator[Row]:
    head = text.lstrip("\r\n").splitlines()[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    names: list[str] | None = None
    before = 0
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise InvalidInput(f"line {before + 1}: is no CSV ({error}).") from None
        line, before = before + 1, reader.line_num
        if cells is None:
            return
        if not any(cell.strip() for cell in cells):
            continue
        if names is None:
            names = [cell.strip() for cell in cells]
        elif len(cells) != len(names):
            yield Row(line, {}, f"has {len(cells)} cells where the header has {len(names)}")
        else:
            yield Row(line, dict(zip(names, cells, strict=True)))


#: The fewest texts for a result, and the most for a play in reasonable time.
LEAST_TEXTS, MOST_TEXTS = 60, 10_000
MOST_BANDS = 10
#: The most characters of a label.
MOST_LABEL = 100
#: The most bad lines that are named; further ones are counted.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields of a row's text and label.

    text, label: a field; in JSON also a path with dots: a number is a place in a list, "*" the mean
    over a list. bands: 0 for labels as they are; else numbers are cut into so many bands of about
    equal counts (equal numbers stay together, so some bands are larger).

    Raises:
        InvalidInput: bands are out of range.
    """

    text: str = "text"
    label: str = "label"
    bands: int = 0

    def __post_init__(self) -> None:
        if self.bands and not 2 <= self.bands <= MOST_BANDS:
            raise InvalidInput.at("bands", f"must be from 2 to {MOST_BANDS}.")


@dataclass(frozen=True, slots=True)
class Labelled:
    """Texts with their authors' labels: ``labels`` are places in ``values``.

    repeated: number of texts left out because of an equal one before.
    """

    texts: tuple[str, ...]
    labels: tuple[int, ...]
    values: tuple[str, ...]
    repeated: int = 0

    @property
    def shares(self) -> Mapping[str, float]:
        """The share of texts with each value, 0 to 1."""
        counts = np.bincount(self.labels, minlength=len(self.values))
        shares = (counts / len(self.labels)).tolist()
        return dict(zip(self.values, shares, strict=True))


def read_labelled(source: bytes, columns: Columns) -> Labelled:
    """The labelled texts of a file, see :func:`read_rows`; of equal texts the first.

    Raises:
        InvalidInput: the format is wrong; lines are bad (the message names them); there are too few
            or too many texts, or values.
    """
    given: dict[str, tuple[str, str | float]] = {}
    faults, count = [], 0
    for row in itertools.islice(read_rows(source), MOST_TEXTS + 1):
        count += 1
        try:
            text, label = _read(row, columns)
        except _Unusable as why:
            faults.append(f"line {row.line}: {why}")
        else:
            given.setdefault(same_text_key(text), (text, label))
    if count > MOST_TEXTS:
        raise InvalidInput(f"The file has more than {MOST_TEXTS:,} texts.")
    if faults:
        more = f"; and {len(faults) - _NAMED:,} more" if len(faults) > _NAMED else ""
        raise InvalidInput(f"{'; '.join(faults[:_NAMED])}{more}.")
    if len(given) < LEAST_TEXTS:
        raise InvalidInput(f"There are {len(given)} different texts; it takes {LEAST_TEXTS}.")
    texts, labels = zip(*given.values(), strict=True)
    names, values = (
        _make_bands(labels, columns.bands)
        if columns.bands
        else (labels, tuple(sorted(set(labels))))
    )
    _check(values)
    return Labelled(texts, tuple(map(values.index, names)), values, count - len(given))


class _Unusable(Exception):
    """Why a row cannot be used."""


def _read(row: Row, columns: Columns) -> tuple[str, str | float]:
    if row.fault:
        raise _Unusable(row.fault)
    text = _look_up(row.fields, columns.text)
    if not isinstance(text, str) or not text.strip():
        raise _Unusable(f"'{columns.text}' is no text")
    label = _look_up(row.fields, columns.label)
    if columns.bands:
        return text, _number(label, columns.label)
    return text, _name(label, columns.label)


def _look_up(fields: Mapping[str, Any], path: str) -> Any:
    """The value of the field, or at the end of the path."""
    if path in fields:
        return fields[path]
    return _follow_path(fields, path.split("."), path)


def _follow_path(value: Any, steps: Sequence[str], path: str) -> Any:
    if not steps:
        return value
    step, *rest = steps
    if isinstance(value, Mapping) and step in value:
        return _follow_path(value[step], rest, path)
    if isinstance(value, list) and value and step == "*":
        return math.fsum(
            _number(_follow_path(element, rest, path), path) for element in value
        ) / len(value)
    if isinstance(value, list) and step.isdecimal() and int(step[:9]) < len(value):
        return _follow_path(value[int(step)], rest, path)
    raise _Unusable(f"there is no '{path}'")


def _number(given: Any, path: str) -> float:
    try:
        number = math.nan if isinstance(given, bool) else float(given)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise _Unusable(f"'{path}' is no number")
    return number


def _name(given: Any, path: str) -> str:
    if isinstance(given, bool):
        return "yes" if given else "no"
    name = f"{given:.15g}" if isinstance(given, float) else given
    name = str(name) if isinstance(name, int) else name
    if not isinstance(name, str) or not name.strip():
        raise _Unusable(f"'{path}' is no label")
    name = name.strip()
    if len(name) > MOST_LABEL or not name.isprintable():
        raise _Unusable(f"'{path}' is longer than {MOST_LABEL} characters or cannot be printed")
    return name


def _make_bands(labels: Sequence[Any], bands: int) -> tuple[Sequence[str], tuple[str, ...]]:
    """Bands of about equal size, in order; equal numbers share a band, by their middle rank."""
    numbers = np.array(labels)
    levels, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    middles = (np.cumsum(counts) - counts / 2) / len(numbers)
    of_level = np.minimum((middles * bands).astype(int), bands - 1)
    ends = [tuple(levels[of_level == band][[0, -1]].tolist()) for band in of_level]
    names = [_range(low, high, 6) for low, high in ends]
    if len(set(names)) < len(set(ends)):
        names = [_range(low, high, 17) for low, high in ends]
    return [names[place] for place in places], tuple(dict.fromkeys(names))


def _range(low: float, high: float, digits: int) -> str:
    return f"{low:.{digits}g}" if low == high else f"{low:.{digits}g} to {high:.{digits}g}"


def _check(values: Sequence[str]) -> None:
    if len(values) < 2:
        raise InvalidInput(f"All texts have one label: {values[0]}.")
    if len(values) > MOST_VALUES:
        raise InvalidInput(
            f"There are {len(values):,} different labels and at most {MOST_VALUES} can be learnt; "
            "numbers can be cut into bands (--bands)."
        )
