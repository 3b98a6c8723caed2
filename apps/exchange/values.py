"""Converts cells of files to values of the ledger, and back. No I/O."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeGuard

from apps.exchange.readers.base import DECODER, RowFault, check_row, shortened
from labelhub.core.phrases import Phrase
from labelhub.core.schema import Schema, Value, ValueNotOffered
from labelhub.core.schema.definition import fold

#: Different unknown values that are listed; those beyond are counted together under "".
MAX_UNKNOWN = 1000
MAX_UNKNOWN_CHARS = 100


class UnknownLabels(RowFault):
    """The row has ``names`` that are no labels of the project, and nobody said what to do."""

    def __init__(self, names: Sequence[str], *, field: str) -> None:
        super().__init__(Phrase("Not among the labels: %(names)s.", names=list(names)), field=field)
        self.names = tuple(names)


class LabelLeftOut(RowFault):
    """Nothing is left of the value, because its names are to be left out."""


@dataclass(frozen=True, slots=True)
class ImportSchema(Schema):
    """A schema as an import reads it: with a decision on names that are no labels.

    ``decisions``: folded name → the label that it stands for, or "" to leave it out. Other unknown
    names are left out if ``leave_out``, else refused. ``unknown`` counts the names without a
    decision; ``decided`` has the names with one, and their labels.
    """

    decisions: Mapping[str, str] = field(default_factory=dict)
    leave_out: bool = False
    unknown: Counter[str] = field(default_factory=Counter, compare=False)
    decided: dict[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls, schema: Schema, decisions: Mapping[str, str], *, leave_out: bool = False
    ) -> "ImportSchema":
        """``decisions`` by name as the file spells it."""
        folded = {fold(name): target for name, target in decisions.items()}
        given = {part.name: getattr(schema, part.name) for part in fields(Schema)}
        return cls(**given, decisions=folded, leave_out=leave_out)

    def settle(self, cell: Any, where: str) -> Any:
        """The cell with its unknown names replaced or left out.

        Raises:
            UnknownLabels: it has names without a decision.
            LabelLeftOut: no name is left.
        """
        given = cell if isinstance(cell, list | dict) else [cell]
        if not all(isinstance(name, str | int | float) for name in given):
            return cell
        targets = {name: self._target(name) for name in given}
        refused = [_shown(name) for name, target in targets.items() if target is None]
        if refused and not self.leave_out:
            raise UnknownLabels(refused, field=where)
        dropped = {name for name, target in targets.items() if not target and target != name}
        if isinstance(cell, dict):
            kept: Any = {}
            for name, there in cell.items():  # several may stand for one label
                if name not in dropped and (there or targets[name] not in kept):
                    kept[targets[name]] = there
            # Without the dropped names it would say that none of the others is there.
            says_none = not any(kept.values()) and any(cell[name] for name in dropped)
        else:
            kept = [targets[name] for name in given if name not in dropped]
            says_none = not kept
        if dropped and says_none:
            raise LabelLeftOut("The value is left out.", field=where)
        return kept if isinstance(cell, list | dict) else kept[0]

    def _target(self, name: Any) -> Any:
        """The label for a name of the file; "" to leave it out, None without a decision."""
        blank = isinstance(name, str) and not name.strip()
        if blank or isinstance(name, bool):
            return name
        target = self.decisions.get(fold(str(name)))
        if target is None and self.task.knows(self, name):
            return name
        if target is None:
            shown = _shown(name)
            full = len(self.unknown) >= MAX_UNKNOWN and shown not in self.unknown
            self.unknown["" if full else shown] += 1
        elif target != name and len(self.decided) < MAX_UNKNOWN:
            self.decided[_shown(name)] = target
        return target


def _shown(name: Any) -> str:
    return shortened(str(name).strip(), MAX_UNKNOWN_CHARS)


def json_cell(raw: Any, where: str) -> Any:
    """The decoded value of a text cell that begins like JSON; any other value unchanged."""
    if not isinstance(raw, str) or not raw.lstrip().startswith(("[", "{")):
        return raw
    try:
        value = DECODER.decode(raw)
    except (ValueError, RecursionError):
        raise RowFault("Starts like JSON and is not valid JSON.", field=where) from None
    check_row({where: value})
    return value


def as_object(raw: Any, where: str) -> dict[str, Any]:
    """``raw``; a fault of the row unless it is an object."""
    if not isinstance(raw, dict):
        raise RowFault("Must be an object.", field=where)
    return raw


def as_list(raw: Any, where: str) -> list[Any]:
    """``raw``; a fault of the row unless it is a list."""
    if not isinstance(raw, list):
        raise RowFault("Must be a list.", field=where)
    return raw


def is_number(raw: Any) -> TypeGuard[int | float]:
    """Whether ``raw`` is a number; ``True`` and ``False`` are none."""
    return isinstance(raw, int | float) and not isinstance(raw, bool)


def label_value(schema: Schema, raw: Any, options: Sequence[str], *, where: str) -> Value | None:
    """The canonical value of a file's value; None when there is none.

    Raises:
        UnknownLabels, LabelLeftOut: of an :class:`ImportSchema`.
        RowFault: the value is not offered; the message names it.
    """
    settle = schema.settle if isinstance(schema, ImportSchema) and schema.task.labelled else None
    return _canonical(schema, raw, options, where, settle)


def _canonical(
    schema: Schema,
    raw: Any,
    options: Sequence[str],
    where: str,
    settle: Callable[[Any, str], Any] | None = None,
) -> Value | None:
    blank = isinstance(raw, str) and not raw.strip()
    if raw is None or blank or (raw == [] and not schema.task.several):
        return None
    try:
        cell = json_cell(raw, where) if schema.task.several else raw
        cell = schema.task.from_cell(schema, cell)
        return schema.normalise(settle(cell, where) if settle else cell, options)
    except ValueNotOffered as refused:
        raise RowFault(refused.message, field=where) from None


def past_value(schema: Schema, raw: Any, options: Sequence[str], *, where: str) -> Value | None:
    """The value of a ledger row that another row of the file supersedes. It may be one that the
    schema no longer offers.

    Raises:
        RowFault: no value of any schema looks like that.
    """
    try:
        return _canonical(schema, raw, options, where)
    except RowFault:
        names = raw if isinstance(raw, list) else [raw]
        if all(isinstance(name, str | int | float) for name in names):
            kept: Value = raw
            return kept
        raise
