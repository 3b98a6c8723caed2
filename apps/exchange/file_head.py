"""The start of a file: its columns, its first rows, and the labels in it. Never reads it whole."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from apps.exchange.columns import ALIASES, CHOOSABLE, CONTENT, ColumnMap, guess_columns
from apps.exchange.readers import open_rows
from apps.exchange.readers.base import RawRow, RowFault, isolate_row, shortened
from apps.exchange.readers.isolation import refuse_after
from apps.exchange.rows import ItemRow, read_row
from apps.exchange.shapes import shape_of, translate
from apps.exchange.shapes.base import Shape
from apps.exchange.shapes.label_studio_min import merge_tasks
from apps.exchange.values import ImportSchema
from labelhub.core.schema import Schema

#: Rows by which the columns are recognised, and rows that are searched for labels.
FIRST_ROWS, HEAD_ROWS = 20, 5000
HEAD_BYTES = 8 * 1024 * 1024
#: Seconds of processor time.
HEAD_SECONDS = 60
CELL_CHARS = 160
#: UUIDs, hashes and long numbers: too long for dates, too regular for words.
_CODE = re.compile(r"(?=\D*\d)[\w-]{16,}", re.ASCII)
#: Beside texts: letters with digits, such as T-0017.
_SHORT_CODE = re.compile(rf"(?=\D*\d)(?=[\d_-]*[a-zA-Z])[\w-]+|{_CODE.pattern}", re.ASCII)
#: Columns that probably are labels if their values recur, where no column has a name for labels.
LIKELY_LABELS = (
    "category", "class", "target", "sentiment", "intent", "topic", "emotion", "tag", "tags",
    "rating", "stars", "score", "toxicity", "stance", "type",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileHead:
    """``rows`` are (number, cells in the order of ``columns``, error); cells are shortened.

    ``detected`` names the tool that the rows are from, if it is another one; ``choices`` are the
    file's own columns, ``questions`` those that its labels answer, ``chosen`` the columns that the
    head was read with. ``items`` are those of ``rows`` that can be used. ``scanned`` counts the
    rows that were searched for labels; ``complete`` if these are all.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...], str], ...]
    detected: str
    choices: tuple[str, ...]
    questions: tuple[str, ...]
    chosen: dict[str, str]
    items: tuple[ItemRow, ...]
    scanned: int
    complete: bool
    schema: ImportSchema

    @property
    def unknown(self) -> list[tuple[str, int]]:
        """Values that are no labels and in how many places they are, the most frequent first."""
        return [pair for pair in self.schema.unknown.most_common() if pair[0]]


def read_head(
    path: Path,
    format_name: str,
    schema: ImportSchema,
    columns: Mapping[str, str] | None = None,
    *,
    patience: float,
    by_content: bool = False,
) -> FileHead:
    """Read the start of a file as an import would read it with these columns, or else with those
    that are recognised: by their names, and ``by_content`` also by their values.

    Raises:
        UnreadableFile: the file as a whole is of no use.
        Unavailable: ``patience`` seconds passed before there was a place to read it.
    """
    given = open_rows(path, format_name, meanwhile=refuse_after(patience), in_all=HEAD_SECONDS)
    rows = merge_tasks(given)
    first = list(islice(rows, FIRST_ROWS))
    shapes = [shape_of(raw.data) for raw in first]
    choices, questions = _choices_of(first, shapes)
    detected = ", ".join(dict.fromkeys(shape.title for shape in shapes if shape))
    chosen = dict(columns or {})
    codes = _code_columns(first) if columns is None and by_content and not detected else {}
    if columns is None:
        guess = guess_columns(choices, CONTENT if detected else ALIASES)
        chosen = {field: column for field, column in guess.items() if field in CHOOSABLE}
        if by_content and not detected:
            chosen |= _guess_by_content([raw.data for raw in first if not raw.error], chosen, codes)
        if by_content and len(questions) > 1:
            chosen["answer"] = questions[0]
    column_map, ended = ColumnMap(chosen), True
    items: list[ItemRow] = []
    scanned = size = 0
    shown = [_shown_cells(raw, schema, chosen) for raw in first]
    for raw in _without_repeats(chain(first, rows), codes):
        row = read_row(raw, column_map, schema)
        scanned, size = scanned + 1, size + raw.size
        if isinstance(row, ItemRow) and len(items) < len(first):
            items.append(row)
        if scanned >= HEAD_ROWS or max(raw.position, size) > HEAD_BYTES:
            ended = next(rows, None) is None
            break
    if unique := [name for name in codes if name not in chosen.values()]:
        chosen.setdefault("id", unique[0])
    names = tuple(dict.fromkeys(name for _, cells, _ in shown for name in cells))
    return FileHead(
        columns=names,
        rows=tuple(
            (number, tuple(cells.get(name, "") for name in names), error)
            for number, cells, error in shown
        ),
        detected=detected,
        choices=choices,
        questions=questions,
        chosen=chosen,
        items=tuple(items),
        scanned=scanned,
        complete=ended,
        schema=schema,
    )


def _choices_of(
    rows: list[RawRow], shapes: list[Shape | None]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns that can be chosen, and the questions that labels in the file answer."""
    choices: dict[str, None] = {}
    questions: dict[str, None] = {}
    for raw, shape in zip(rows, shapes, strict=True):
        # A row may be too odd to find its columns and questions; its error says why.
        with suppress(RowFault, TypeError):
            choices |= dict.fromkeys(shape.columns(raw.data) if shape else raw.data)
            questions |= dict.fromkeys(shape.questions(raw.data) if shape else ())
    return tuple(choices), tuple(questions)


def _code_columns(rows: list[RawRow]) -> dict[str, set[str]]:
    """The columns that have a code in each row, such as a UUID, with no values yet."""
    data = [raw.data for raw in rows if not raw.error]
    names = list(data[0] if data else ())
    texts = any(all(" " in str(row.get(name)) for row in data) for name in names)
    code = _SHORT_CODE if texts else _CODE
    return {
        name: set() for name in names if all(code.fullmatch(str(row.get(name))) for row in data)
    }


def _without_repeats(rows: Iterable[RawRow], codes: dict[str, set[str]]) -> Iterator[RawRow]:
    """The rows, unchanged; a column in which a code recurs leaves ``codes``, column → values."""
    for raw in rows:
        for name, known in [] if raw.error else list(codes.items()):
            if (code := str(raw.data.get(name))) in known:
                del codes[name]
            known.add(code)
        yield raw


def _guess_by_content(
    rows: list[dict[str, Any]], chosen: Mapping[str, str], codes: Collection[str]
) -> dict[str, str]:
    """Text and gold where no column has a usual name: the longest texts, if possible no ``codes``,
    and a likely name."""
    free = [
        name for name in dict.fromkeys(chain.from_iterable(rows)) if name not in chosen.values()
    ]
    found = {}
    if "text" not in chosen:
        lengths = {
            name: sum(len(row[name]) for row in rows if isinstance(row.get(name), str))
            for name in free
        }
        longest = max(free, key=lengths.__getitem__, default="")
        if longest in codes:
            plain = [name for name in free if lengths[name] and name not in codes]
            plain = [name for name in plain if name.casefold().strip() not in LIKELY_LABELS]
            longest = max(plain, key=lengths.__getitem__, default=longest)
        if longest and lengths[longest]:
            found["text"] = longest
    if "gold" not in chosen:
        folded = {name.casefold().strip(): name for name in free if name not in found.values()}
        likely = next((folded[name] for name in LIKELY_LABELS if name in folded), "")
        if likely:
            found["gold"] = likely
    return found


def _shown_cells(
    raw: RawRow, schema: Schema, chosen: Mapping[str, str]
) -> tuple[int, dict[str, str], str]:
    """The row as it will be imported, with another tool's row translated."""
    plain = ImportSchema.of(schema, {}, leave_out=True)  # the rows are counted elsewhere
    data = raw.data
    error = raw.error or ""
    if not error:
        try:
            with isolate_row(raw.number):
                theirs = translate(raw.data, ColumnMap(chosen), plain)
            data = theirs.row if theirs else raw.data
        except RowFault as fault:
            data, error = {}, f"{fault.field}: {fault.message}" if fault.field else fault.message
    cells = {name: shortened(_in_words(cell), CELL_CHARS) for name, cell in data.items()}
    return raw.number, cells, error


def _in_words(value: Any) -> str:
    """A readable cell: a set of labels by its names, other structures as JSON."""
    if (
        isinstance(value, dict)
        and value
        and all(isinstance(present, bool) for present in value.values())
    ):
        return ", ".join(str(name) for name, present in value.items() if present) or gettext(
            "None of these"
        )
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return ", ".join(value)
    if isinstance(value, list) and all(
        isinstance(label, dict) and "annotator" in label for label in value
    ):
        return "; ".join(
            f"{label['annotator']}: {_in_words(label.get('value'))}" for label in value
        )
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)
