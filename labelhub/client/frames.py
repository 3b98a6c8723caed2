"""To and from pandas, which is imported only here and only when it is needed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from labelhub.client.errors import PandasMissing

if TYPE_CHECKING:
    import pandas as pd

Per = Literal["item", "label"]

ITEM_COLUMNS = ("id", "text", "context", "question", "options", "meta", "gold")
LABEL_COLUMNS = (
    "uid", "annotator", "kind", "offline", "value", "abstained", "withdrawn", "rejected",
    "action", "confidence", "rationale", "seconds", "cost_nanousd", "shown", "proposed_from",
    "supersedes", "run", "replicate", "schema_version", "created_at",
)  # fmt: skip


def is_frame(given: Any) -> bool:
    """Whether it is a pandas DataFrame; who has one has pandas loaded."""
    kind = type(given)
    return kind.__name__ == "DataFrame" and kind.__module__.partition(".")[0] == "pandas"


def rows_of_frame(frame: Any) -> Iterator[dict[str, Any]]:
    """One row per row; cells without a value are left out, the index is not looked at."""
    names = [str(name) for name in frame.columns]
    given = frame.notna().itertuples(index=False, name=None)
    for cells, there in zip(frame.itertuples(index=False, name=None), given, strict=True):
        yield {
            name: cell for name, cell, is_there in zip(names, cells, there, strict=True) if is_there
        }


def frame_of(rows: Iterable[Mapping[str, Any]], per: Per) -> "pd.DataFrame":
    """A DataFrame of exported rows: one row per item with its gold, or one per label.

    Columns of the second: ``item`` (its id), ``text`` and ``gold`` of the item, then the label's.

    Raises:
        PandasMissing: it is not installed.
    """
    pandas = loaded()
    if per == "item":
        return pandas.DataFrame(
            [[row.get(name) for name in ITEM_COLUMNS] for row in rows], columns=ITEM_COLUMNS
        )
    columns = ["item", "text", "gold", *LABEL_COLUMNS]
    frame = pandas.DataFrame([cells for row in rows for cells in _labels(row)], columns=columns)
    return frame.assign(
        created_at=pandas.to_datetime(frame["created_at"], utc=True, format="ISO8601")
    )


def _labels(row: Mapping[str, Any]) -> Iterator[list[Any]]:
    item = [row.get("id"), row.get("text"), row.get("gold")]
    for label in row.get("labels", ()):
        said = {"offline": False, **label}
        yield [*item, *(said.get(name) for name in LABEL_COLUMNS)]


def loaded() -> Any:
    """pandas.

    Raises:
        PandasMissing: it is not installed.
    """
    try:
        import pandas  # noqa: ICN001, PLC0415 - the rest of the client needs none of it
    except ImportError:
        raise PandasMissing("DataFrames need pandas: install it, or use rows().") from None
    return pandas
