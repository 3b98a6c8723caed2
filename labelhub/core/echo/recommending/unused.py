"""What items say of features that is never expected of a message: it is kept, and of no use."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from labelhub.core.echo.recommending.items import Item
from labelhub.core.echo.recommending.terms import denied, spelled


@dataclass(frozen=True, slots=True)
class Unused:
    """An attribute that is of no use.

    Args:
        key: of the feature.
        value: that the feature does not have; "" where there is no such feature.
        rows: items that name it.
    """

    key: str
    value: str
    rows: int

    @property
    def words(self) -> str:
        """What it is, and what becomes of it."""
        rows = "1 row names" if self.rows == 1 else f"{self.rows:,} rows name"
        if self.value:
            return (
                f"{rows} the value “{self.value}” of {self.key}, which that feature does not have: "
                "it is never expected of a message."
            )
        return f"{rows} the feature {self.key}, which this site does not ask about: it is not used."


def unused_attributes(items: Iterable[Item], features: Mapping[str, Sequence[str]]) -> list[Unused]:
    """What the items name and ``features`` do not have: by key their values, none where any will
    do. What most items name comes first."""
    known = {key: _forms(values) for key, values in features.items()}
    rows: Counter[tuple[str, str]] = Counter()
    for item in items:
        rows.update(set(_strange(item, known)))
    ordered = sorted(rows, key=lambda each: (-rows[each], each))
    return [Unused(key, value, rows[key, value]) for key, value in ordered]


def _forms(values: Sequence[str]) -> Collection[str]:
    """The values as they are compared, and what those say no to: an item may name either."""
    return {form for value in values for form in (spelled(value), denied(value)) if form}


def _strange(item: Item, known: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str]]:
    for told in (item.suits, item.avoids):
        for key, values in told.items():
            if key not in known:
                yield key, ""
            elif known[key]:
                yield from ((key, value) for value in values if spelled(value) not in known[key])
