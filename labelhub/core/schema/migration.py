"""How the values given under a schema change when its labels do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from labelhub.core.schema.definition import Schema, Value


class Fate(Enum):
    """What happens to a value that has no counterpart in the new schema.

    No text, because a label may have any name.
    """

    NEEDS_PEOPLE = "needs_people"
    WITHDRAWN = "withdrawn"
    DROPPED = "dropped"  # of one name in a set: the others stay


@dataclass(frozen=True, slots=True)
class SchemaPlan:
    """A planned change of a schema.

    Attributes:
        old, new: the schema before and after.
        names: old label → the new label that takes its place, or its fate.
        origins: new label → the old label that it is a part of (see ``Split``).
    """

    old: Schema
    new: Schema
    names: Mapping[str, str | Fate]
    origins: Mapping[str, str] = field(default_factory=dict)

    def value(self, value: Value) -> Value | Fate:
        """The canonical value of the new schema for one of the old schema, or its fate."""
        return self.old.task.migrate(self, value)

    @property
    def changes_values(self) -> bool:
        """Whether any value changes."""
        kept = [name for name in self.new.names if self.names.get(name) == name]
        moved = self.old.task.several and kept != [n for n in self.old.names if n in kept]
        return moved or any(self._changed(name) for name in self.old.names)

    @property
    def one_to_one(self) -> bool:
        """Whether different values stay different and none is lost, so that no decision changes."""
        targets = list(self.names.values())
        lost = any(isinstance(target, Fate) for target in targets)
        return not lost and len(set(targets)) == len(targets)

    def inverse(self) -> "SchemaPlan":
        """The plan from the new schema back to the old one.

        If several labels became one, only people can tell which it was, unless the new label has
        the name of one of them.
        """
        sources: dict[str, list[str]] = {name: [] for name in self.new.names}
        for name, target in self.names.items():
            if not isinstance(target, Fate):
                sources[target].append(name)
        back = {name: self._back(name, found) for name, found in sources.items()}
        return SchemaPlan(self.new, self.old, back)

    def evidence(self, evidence: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Quoted phrases by new label; those of removed labels are left out."""
        found: dict[str, list[str]] = {}
        for name, phrases in evidence.items():
            target = self.names.get(name, name)
            if not isinstance(target, Fate):
                there = found.setdefault(target, [])
                there += [phrase for phrase in phrases if phrase not in there]
        return found

    def spans(self, spans: Sequence[Any]) -> list[Any]:
        """Marked places of a text (``{"label", …}``) with the new names of their labels."""
        found = []
        for span in spans:
            name = span.get("label") if isinstance(span, Mapping) else None
            target = self.names.get(name, name) if isinstance(name, str) else None
            if target is None:
                found.append(span)
            elif not isinstance(target, Fate):
                found.append({**span, "label": target})
        return found

    def _changed(self, name: str) -> bool:
        if self.old.task.ordered:
            before = self.old.label(name)
            return before is None or self.point_of(self.names[name]) != before.point
        return self.names[name] != name

    def point_of(self, name: str | Fate) -> float:
        """The number of a new label; NaN if there is none."""
        found = None if isinstance(name, Fate) else self.new.label(name)
        return float("nan") if found is None or found.point is None else found.point

    def _back(self, name: str, sources: Sequence[str]) -> str | Fate:
        if len(sources) == 1:
            return sources[0]
        if name in sources:
            return name
        if sources:
            return Fate.NEEDS_PEOPLE
        lost = Fate.DROPPED if self.old.task.several else Fate.NEEDS_PEOPLE
        return self.origins.get(name, lost)
