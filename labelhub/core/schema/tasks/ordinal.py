"""A scale: the value is the number of one of its points (``int`` where it is whole)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from labelhub.core.phrases import Phrase
from labelhub.core.schema.content import off_menu_error, offered
from labelhub.core.schema.definition import (
    LabelDef,
    Schema,
    SchemaError,
    Value,
    not_offered_error,
    number,
)
from labelhub.core.schema.menu import NUMBER, Menu
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.tasks.base import NOMINAL, LabelType, unwrap_single
from labelhub.core.texts import gettext_noop

#: Squares of distances must fit into a float.
MOST_POINT = 1e12


class Ordinal(LabelType):
    """One point of an ordered scale; each label is a point with a number."""

    name = "ordinal"
    title = gettext_noop("A scale")
    summary = gettext_noop("One point of an ordered scale.")
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
        """With the points as given, else the numbers that the names spell, else 1, 2, 3 …"""
        if any(label.point is not None for label in labels):
            points = [label.point for label in labels]
        else:
            points = [number(label.name) for label in labels]
            if None in points:
                points = [float(place) for place in range(1, len(labels) + 1)]
        given = [point for point in points if point is not None]
        if len(given) < len(labels) or len(set(given)) < len(labels):
            raise SchemaError(Phrase("labels: every scale point needs its own number in 'point'."))
        if max(map(abs, given), default=0) > MOST_POINT:
            raise SchemaError(
                Phrase(
                    "labels: a scale point is at most %(most_point)s.",
                    most_point=f"{MOST_POINT:,.0f}",
                )
            )
        return tuple(
            replace(label, point=point) for label, point in zip(labels, given, strict=True)
        )

    def normalise(self, schema: Schema, raw: Any, options: Sequence[str]) -> Value:
        """From a number, a text that spells it, or the name of a point."""
        found = schema.label(raw) if isinstance(raw, str) else None
        wanted = found.point if found else number(raw)
        for label in schema.labels:
            if wanted is not None and label.point == wanted:
                return whole(wanted)
        points = [f"{label.point:g}" for label in schema.labels if label.point is not None]
        raise not_offered_error(raw, points)

    def knows(self, schema: Schema, name: Any) -> bool:
        """Whether ``name`` is a point's name or spells its number."""
        return super().knows(schema, name) or number(name) in {
            label.point for label in schema.labels
        }

    def names_in(self, schema: Schema, value: Value) -> list[str]:
        """The name of the point; nothing if the scale has no such point."""
        return [label.name for label in schema.labels if label.point == value]

    def name_of(self, schema: Schema, value: Value) -> str:
        """The name of the point; the number if the scale has no such point."""
        return next(iter(self.names_in(schema, value)), str(value))

    def values(self, schema: Schema, options: Sequence[str]) -> list[Value]:
        """The points in the order of the schema."""
        return [schema.normalise(name) for name in schema.names]

    def _read_other(self, schema: Schema, form: str, menu: Menu) -> Value:
        """The scale point with the number ``form``, a plain number. Numbers stand for points unless
        the name of another point is that number."""
        plain = form.replace("−", "-")
        named = ((number(label.name), label.point) for label in schema.labels)
        if not NUMBER.fullmatch(plain) or any(value not in (None, point) for value, point in named):
            raise off_menu_error(form, schema.names)
        return offered(plain, schema)

    def from_cell(self, schema: Schema, raw: Any) -> Any:
        """A number or the name of a point."""
        return unwrap_single(raw)

    def migrate(self, plan: SchemaPlan, value: Value) -> Value | Fate:
        """The number of the new point that takes the place of the point."""
        found = next((label for label in plan.old.labels if label.point == value), None)
        target = plan.names[found.name] if found else Fate.NEEDS_PEOPLE
        return target if isinstance(target, Fate) else whole(plan.point_of(target))

    def labels_in_order(self, schema: Schema) -> Sequence[LabelDef]:
        """By their points: a schema may list a scale from its top."""
        return sorted(schema.labels, key=lambda label: label.point or 0)


def whole(point: float) -> int | float:
    """A number as the ledger stores it: an ``int`` if it is whole."""
    return int(point) if point == int(point) else point
