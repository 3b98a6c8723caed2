"""A scale: the value is the number of one of its points (``int`` where it is whole)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labelhub.core.schema.carrying import Fate, SchemaPlan
from labelhub.core.schema.content import off_menu, offered
from labelhub.core.schema.definition import (
    LabelDef,
    Schema,
    SchemaError,
    Value,
    not_offered,
    number,
)
from labelhub.core.schema.menu import NUMBER, Menu
from labelhub.core.schema.tasks.base import NOMINAL, LabelType, only_one

#: Squares of distances have to fit into floating point.
MOST_POINT = 1e12


class Ordinal(LabelType):
    """One point of an ordered scale; each label is a point and has its number."""

    name = "ordinal"
    title = "A scale"
    summary = "One point of an ordered scale."
    example = "1 · 2 · 3 · 4 · 5"
    question = "Which point of the scale fits the text?"
    ordered = True
    coefficients = (
        "alpha_ordinal", "alpha_interval", "alpha_ratio", "gwet_ac2", "icc_2_1", "icc_2_k",
        *NOMINAL,
    )  # fmt: skip
    learned_as = "ordinal"
    column = "number"
    hub_words = "a point on the scale below"

    def check_labels(self, labels: tuple[LabelDef, ...]) -> tuple[LabelDef, ...]:
        """Scale points: as given, else the number the names spell, else 1, 2, 3 …"""
        if any(label.point is not None for label in labels):
            points = [label.point for label in labels]
        else:
            spelled = [number(label.name) for label in labels]
            counted = [float(place) for place in range(1, len(labels) + 1)]
            points = spelled if None not in spelled else list(counted)
        given = [point for point in points if point is not None]
        if len(given) < len(labels) or len(set(given)) < len(labels):
            raise SchemaError("labels: every scale point needs its own number in 'point'.")
        if max(map(abs, given), default=0) > MOST_POINT:
            raise SchemaError(f"labels: a scale point is at most {MOST_POINT:,.0f}.")
        return tuple(
            replace(label, point=point) for label, point in zip(labels, given, strict=True)
        )

    def normalise(self, schema: Schema, raw: Any, options: Sequence[str]) -> Value:
        """From a number, a text that spells one, or the name of a point."""
        found = schema.label(raw) if isinstance(raw, str) else None
        wanted = found.point if found else number(raw)
        for label in schema.labels:
            if wanted is not None and label.point == wanted:
                return whole(wanted)
        points = [f"{label.point:g}" for label in schema.labels if label.point is not None]
        raise not_offered(raw, points)

    def names_in(self, schema: Schema, value: Value) -> list[str]:
        """The name of the point; none where the scale has no such point."""
        return [label.name for label in schema.labels if label.point == value]

    def name_of(self, schema: Schema, value: Value) -> str:
        """The name of the point; the number where the scale has no such point."""
        return next(iter(self.names_in(schema, value)), str(value))

    def values(self, schema: Schema, options: Sequence[str]) -> list[Value]:
        """The points in the order of the schema."""
        return [schema.normalise(name) for name in schema.names]

    def _read_other(self, schema: Schema, form: str, menu: Menu) -> Value:
        """The scale point whose number ``form`` is; what else Python would read is none. Numbers
        stand for points unless a name is the number of another point."""
        plain = form.replace("−", "-")
        named = ((number(label.name), label.point) for label in schema.labels)
        if not NUMBER.fullmatch(plain) or any(value not in (None, point) for value, point in named):
            raise off_menu(form, schema.names)
        return offered(plain, schema)

    def from_cell(self, schema: Schema, raw: Any) -> Any:
        """A number, or a text that names a point."""
        return only_one(raw)

    def migrate(self, plan: SchemaPlan, value: Value) -> Value | Fate:
        """By the name of the point; the number is that of the new point."""
        found = next((label for label in plan.old.labels if label.point == value), None)
        target = plan.names[found.name] if found else Fate.NEEDS_PEOPLE
        return target if isinstance(target, Fate) else whole(plan.point_of(target))


def whole(point: float) -> int | float:
    """A number as the ledger keeps it: without a fraction where it has none."""
    return int(point) if point == int(point) else point
