"""Features from a starter set, from JSON definitions, or from a table."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

from django.db import transaction

from apps.authors.models import Site
from apps.authors.services.sites import MOST_FEATURES, set_features
from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import Feature, parse_feature, starter_library
from labelhub.core.phrases import Phrase, join_sentences

#: Most errors that are reported.
MOST_FAULTS = 100


def read_features(raw: Any) -> list[Feature]:
    """The features of ``{"set": "shopping"}`` or of a list of definitions.

    Raises:
        InvalidInput: a definition is invalid; names the definition and the field.
    """
    if isinstance(raw, Mapping) and set(raw) == {"set"}:
        return starter_set(raw["set"])
    if not isinstance(raw, list):
        sets = ", ".join(starter_library())
        raise InvalidInput.at(
            "features", 'Send {"set": NAME} with one of %(sets)s, or a list of features.', sets=sets
        )
    return parse_rows(raw)


def parse_rows(rows: Sequence[Any], numbers: Sequence[int] = ()) -> list[Feature]:
    """The features of all rows, or none of them.

    Args:
        rows: unchecked definitions.
        numbers: row numbers for messages; by default from 1.

    Raises:
        InvalidInput: too many rows, or rows with errors: ``data["errors"]`` has row, field
            ("features.3.key") and message of the first :data:`MOST_FAULTS`.
    """
    if len(rows) > MOST_FEATURES:
        raise InvalidInput.at(
            "features",
            "Choose between 1 and %(most_features)s features.",
            most_features=MOST_FEATURES,
        )
    features: list[Feature] = []
    faults: list[dict[str, Any]] = []
    first: dict[str, int] = {}
    for index, (raw, number) in enumerate(
        zip(rows, numbers or range(1, len(rows) + 1), strict=True)
    ):
        try:
            feature = parse_feature(raw)
            if feature.key in first:
                raise InvalidInput.at(
                    "key", "is also the key of row %(first)s.", first=first[feature.key]
                )
        except InvalidInput as error:
            fault = (error.data.get("errors") or [{"field": "", "message": error.message}])[0]
            field = f"features.{index}.{fault['field']}".rstrip(".")
            faults.append({"row": number, "field": field, "message": fault["message"]})
            continue
        first[feature.key] = number
        features.append(feature)
    if faults:
        field, message = faults[0]["field"], faults[0]["message"]
        words = Phrase("%(field)s: %(message)s", field=field, message=message)
        if len(faults) > 1:
            rows = Phrase("%(number)s rows have errors; nothing is changed.", number=len(faults))
            words = join_sentences(words, rows)
        raise InvalidInput(words, data={"errors": faults[:MOST_FAULTS]})
    return features


def starter_set(name: Any) -> list[Feature]:
    """The features of one set of the starter library.

    Raises:
        InvalidInput: there is no such set; the message lists them.
    """
    sets = starter_library()
    if not isinstance(name, str) or name not in sets:
        raise InvalidInput.at(
            "features",
            "There is no set of that name; choose one of %(sets)s.",
            sets=", ".join(sets),
        )
    return list(sets[name])


MOST_BYTES = 4 * 1024 * 1024
_DELIMITERS = (",", ";", "\t")
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False, "": False}
#: Fields that an existing feature keeps if the table has no such column and the answers are equal.
_STAYS = ("ordinal", "always", "applies", "cues", "hint", "meanings", "templates", "prior")


@dataclass(frozen=True, slots=True)
class Imported:
    """How many features are new, and how many replaced one with the same key."""

    added: int
    changed: int


@transaction.atomic
def import_features(*, site: Site, name: str, data: bytes) -> Imported:
    """Add the features of a file: existing keys keep their place, others come last.

    Args:
        name: the file's name; one that ends in ``.json`` is JSON, any other a table.
        data: its bytes.

    Raises:
        InvalidInput: the file cannot be read, or rows have errors: ``data["errors"]`` has row,
            field and message of each. Nothing is imported then.
    """
    if len(data) > MOST_BYTES:
        raise InvalidInput.at("file", "must be at most %(value)s MB.", value=MOST_BYTES // 2**20)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput.at(
            "file", "is not UTF-8 (byte %(value)s).", value=error.start + 1
        ) from None
    if name.lower().endswith(".json"):
        return add_features(site=site, features=parse_rows(_json_rows(text)))
    known = {row.key: row.parsed for row in site.features.all()}
    columns, rows = _table(text)
    numbers = [number for number, _ in rows]
    # Cells that cannot be read are unchanged, so that the parser refuses them.
    raw = [{name: COLUMNS[name](cell) for name, cell in cells.items() if cell} for _, cells in rows]
    read = parse_rows(raw, numbers=numbers)
    kept = [_keep_omitted_fields(feature, known.get(feature.key), columns) for feature in read]
    return add_features(site=site, features=kept)


@transaction.atomic
def add_features(*, site: Site, features: Sequence[Feature]) -> Imported:
    """Add ``features``: existing keys keep their place, new ones come last.

    Raises:
        InvalidInput: no features, or too many; as :func:`set_features`.
    """
    if not features:
        raise InvalidInput.at("features", "Send at least one feature.")
    new = {feature.key: feature for feature in features}
    asked = [row.parsed for row in site.features.asked()]
    known = {feature.key for feature in asked}
    added = [feature for key, feature in new.items() if key not in known]
    set_features(
        site=site, features=[*(new.get(feature.key, feature) for feature in asked), *added]
    )
    return Imported(len(added), len(new) - len(added))


def _json_rows(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise InvalidInput.at("file", "is not JSON: %(error)s.", error=error) from None
    except RecursionError:
        raise InvalidInput.at("file", "is nested too deeply.") from None
    rows = found.get("features") if isinstance(found, Mapping) else found
    if not isinstance(rows, list):
        raise InvalidInput.at("file", 'must be a list of features, or {"features": [...]}.')
    return rows


def _table(text: str) -> tuple[tuple[str, ...], list[tuple[int, dict[str, str]]]]:
    """The columns, and each row with its number as in a spreadsheet: the header is row 1."""
    head = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    source = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [(number, row) for number, row in enumerate(source, 1) if any(map(str.strip, row))]
    except csv.Error as error:
        raise InvalidInput.at(
            "file", "row at line %(line_num)s: %(error)s.", line_num=source.line_num, error=error
        ) from None
    columns = tuple(name.strip().lower() for name in rows[0][1]) if rows else ()
    _check_columns(columns)
    return columns, [(number, _row(number, row, columns)) for number, row in rows[1:]]


def _check_columns(columns: Sequence[str]) -> None:
    missing = [name for name in ("key", "name", "definition") if name not in columns]
    if missing:
        raise _in_heading(
            missing[0],
            Phrase("this column is missing; the columns are %(columns)s.", columns=list(COLUMNS)),
        )
    strange = next((name for name in columns if name not in COLUMNS), None)
    if strange is not None:
        words = Phrase("is not a column; the columns are %(columns)s.", columns=list(COLUMNS))
        raise _in_heading(strange[:60], words)
    if len(set(columns)) < len(columns):
        raise _in_heading("", Phrase("two columns have the same name."))


def _in_heading(field: str, message: str) -> InvalidInput:
    fault = {"row": 1, "field": field, "message": message}
    return InvalidInput(
        "Row 1, %(field)s: %(message)s", field=field, message=message, data={"errors": [fault]}
    )


def _row(number: int, row: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    if any(map(str.strip, row[len(columns) :])):
        message = Phrase(
            "has %(cells)s cells, the header %(columns)s; quote cells with commas.",
            cells=len(row),
            columns=len(columns),
        )
        fault = {"row": number, "field": "", "message": message}
        raise InvalidInput(
            "Row %(number)s %(message)s",
            number=str(number),
            message=message,
            data={"errors": [fault]},
        )
    return dict(zip(columns, (cell.strip() for cell in row), strict=False))


def _keep_omitted_fields(new: Feature, old: Feature | None, columns: Sequence[str]) -> Feature:
    if old is None or _answer_space(new) != _answer_space(old):
        return new
    return replace(new, **{name: getattr(old, name) for name in _STAYS if name not in columns})


def _answer_space(feature: Feature) -> tuple[Any, ...]:
    return feature.answer, feature.values, feature.bounds, feature.unit


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(";") if part.strip()]


def number_or_text(cell: str) -> float | str:
    """The number; other text is unchanged, so that the parser refuses it."""
    try:
        return float(cell)
    except ValueError:
        return cell


def _flag(cell: str) -> Any:
    return _TRUTH.get(cell.lower(), cell)


COLUMNS: Mapping[str, Callable[[str], Any]] = {
    "key": str,
    "name": str,
    "definition": str,
    "answer": str.lower,
    "values": _parts,
    "bounds": lambda cell: [number_or_text(part) for part in _parts(cell)],
    "unit": str,
    "ordinal": _flag,
    "always": _flag,
    "applies": str,
    "hint": str,
    "cues": _parts,
    "prior": number_or_text,
}
