"""Values as small numbers that are equal where two values say the same; see ``comparison``."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.comparison import known_names
from labelhub.core.agreement.resampling import Ints
from labelhub.core.schema import Schema, Value, fold, value_key

NOTHING = -1


class Codes:
    """Numbers values in the order in which they are met; ``NOTHING`` stands for no answer.

    Tens of thousands of answers are seldom more than a few dozen values: each is read only once.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._by_raw: dict[object, int] = {}
        self._by_key: dict[object, int] = {}
        self._names: list[frozenset[str]] = []

    def __len__(self) -> int:
        return len(self._names)

    def of(self, value: Value | None) -> int:
        """The number of ``value``."""
        if value is None:
            return NOTHING
        raw = tuple(value) if isinstance(value, list) else (type(value), value)
        code = self._by_raw.get(raw)
        if code is None:
            code = self._by_raw[raw] = self._new(value)
        return code

    def all_of(self, values: Iterable[Value | None]) -> Ints:
        """The numbers of ``values``."""
        return np.fromiter(map(self.of, values), dtype=np.int64)

    def has_labels(self) -> bool:
        """Whether values are made of the schema's labels, which can be counted one by one."""
        return self._schema.task.labelled

    def indicators(self) -> NDArray[np.bool_]:
        """Shape (values + 1, labels): whether a label is in a value; the last row is NOTHING."""
        names = self._schema.names if self.has_labels() else ()
        table = np.zeros((len(self._names) + 1, len(names)), dtype=bool)
        for row, named in enumerate(self._names):
            table[row] = [name in named for name in names]
        return table

    def _new(self, value: Value) -> int:
        if self.has_labels():
            key: object = known_names(self._schema, value)
        else:
            key = fold(value) if isinstance(value, str) else (value_key(value),)
        if key not in self._by_key:
            self._by_key[key] = len(self._names)
            self._names.append(key if isinstance(key, frozenset) else frozenset())
        return self._by_key[key]
