"""What becomes of every value given under a schema when its labels are changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from labelhub.core.schema.definition import Schema, Value


class Fate(Enum):
    """What becomes of a value that no value of the new schema stands for. No text: a label may be
    called anything."""

    NEEDS_PEOPLE = "needs_people"
    WITHDRAWN = "withdrawn"
    DROPPED = "dropped"  # of one name in a set: the others stay


@dataclass(frozen=True, slots=True)
class SchemaPlan:
    """A change of a schema, worked out.

    Attributes:
        old, new: the schema before and after.
        names: every old label's name → that of the label that takes its place, or its fate.
        origins: new label → old one that it is a part of (see ``Split``).
    """

    old: Schema
    new: Schema
    names: Mapping[str, str | Fate]
    origins: Mapping[str, str] = field(default_factory=dict)

    def value(self, value: Value) -> Value | Fate:
        """What a canonical value of the old schema is in the new one; canonical, or its fate."""
        return self.old.task.migrate(self, value)

    @property
    def changes_values(self) -> bool:
        """Whether any value is another one after it."""
        kept = [name for name in self.new.names if self.names.get(name) == name]
        moved = self.old.task.several and kept != [n for n in self.old.names if n in kept]
        return moved or any(self._changed(name) for name in self.old.names)

    @property
    def one_to_one(self) -> bool:
        """Whether different values stay different, and none is lost: so no decision changes."""
        targets = list(self.names.values())
        lost = any(isinstance(target, Fate) for target in targets)
        return not lost and len(set(targets)) == len(targets)

    def inverse(self) -> "SchemaPlan":
        """The way back, for values of the new schema: where several became one, only people know
        which it was, unless it was one of them."""
        sources: dict[str, list[str]] = {name: [] for name in self.new.names}
        for name, target in self.names.items():
            if not isinstance(target, Fate):
                sources[target].append(name)
        back = {name: self._back(name, found) for name, found in sources.items()}
        return SchemaPlan(self.new, self.old, back)

    def evidence(self, evidence: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Quoted phrases by label, under the names of afterwards; what is gone is left out."""
        found: dict[str, list[str]] = {}
        for name, phrases in evidence.items():
            target = self.names.get(name, name)
            if not isinstance(target, Fate):
                there = found.setdefault(target, [])
                there += [phrase for phrase in phrases if phrase not in there]
        return found

    def spans(self, spans: Sequence[Any]) -> list[Any]:
        """Marked places of a text (``{"label", …}``), under the names of afterwards."""
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
        """The number of a label of afterwards; NaN where there is none."""
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
