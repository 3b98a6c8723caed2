"""Exports, read while they arrive: as a file, as rows, or as a DataFrame."""

import json
import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from labelhub.client import endpoints
from labelhub.client.errors import AnswerLost, PandasMissing, UnexpectedAnswer, WrongUse
from labelhub.client.progress import Meter
from labelhub.client.transport import Session, build_request

if TYPE_CHECKING:
    import pandas as pd

Per = Literal["item", "label"]

LINE_LIMIT_BYTES = 256 * 1024 * 1024
ITEM_COLUMNS = ("id", "text", "context", "question", "options", "meta", "gold")
LABEL_COLUMNS = (
    "uid", "annotator", "kind", "offline", "value", "abstained", "withdrawn", "rejected",
    "action", "confidence", "rationale", "seconds", "cost_nanousd", "shown", "proposed_from",
    "supersedes", "run", "replicate", "schema_version", "created_at",
)  # fmt: skip


class Export:
    """An export that is requested when it is read, and read as it arrives."""

    def __init__(self, session: Session, slug: str, format_name: str, only: str | None) -> None:
        self._session, self._format = session, format_name
        query = {"format": format_name, "only": only}
        self._request = build_request(endpoints.EXPORT, query, slug=slug)

    def pieces(self) -> Generator[bytes, None, None]:
        """The file as it arrives."""
        meter = Meter(self._session.on_progress, "Export", total=None, unit="B")
        with meter, closing(self._session.read_pieces(self._request)) as pieces:
            for piece in pieces:
                meter.reach(meter.done + len(piece))
                yield piece

    def rows(self) -> Generator[dict[str, Any], None, None]:
        """One dict per item, with its ``labels``; of JSON Lines only."""
        if self._format != "jsonl":
            raise WrongUse(
                f"An export as {self._format} has no rows; save() it, or leave out the format."
            )
        with closing(self.pieces()) as pieces:
            yield from parse_rows(pieces)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """The file at ``path``, which appears there when it is complete, and not before."""
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            with part.open("wb") as file:
                file.writelines(self.pieces())
            return part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def to_dataframe(self, per: Per = "item") -> "pd.DataFrame":
        """One row per item with its gold, or with ``per="label"`` one per label: ``item`` (its id),
        ``text`` and ``gold`` of the item, then the label's columns.

        Raises:
            PandasMissing: it is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - the rest of the client needs no pandas
        except ImportError:
            raise PandasMissing("DataFrames need pandas: install it, or use rows().") from None
        if per == "item":
            items = [[row.get(name) for name in ITEM_COLUMNS] for row in self.rows()]
            return pd.DataFrame(items, columns=ITEM_COLUMNS)
        labels = [
            [row.get("id"), row.get("text"), row.get("gold")]
            + [label.get(name, False if name == "offline" else None) for name in LABEL_COLUMNS]
            for row in self.rows()
            for label in row.get("labels", ())
        ]
        frame = pd.DataFrame(labels, columns=["item", "text", "gold", *LABEL_COLUMNS])
        return frame.assign(
            created_at=pd.to_datetime(frame["created_at"], utc=True, format="ISO8601")
        )


def parse_rows(pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The rows of JSON Lines, with no more than a line in memory.

    Lines end at line feeds alone: texts hold other line ends that JSON leaves as they are.

    Raises:
        UnexpectedAnswer: a line is no JSON object, or does not end.
        AnswerLost: the last line is not complete.
    """
    rest: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        rest.append(first)
        size += len(first)
        if size > LINE_LIMIT_BYTES:
            raise UnexpectedAnswer("A line of the export does not end.")
        if others:
            complete = [b"".join(rest), *others[:-1]]
            yield from (parse_row(line) for line in complete if line.strip())
            rest, size = [others[-1]], len(others[-1])
    if b"".join(rest).strip():
        raise AnswerLost("The export ended in the middle of a row; call again.")


def parse_row(line: bytes) -> dict[str, Any]:
    """One row of JSON Lines."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise UnexpectedAnswer("A line of the export is no JSON object.")
    return row
