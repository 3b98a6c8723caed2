"""Two values of one item, and when they say the same."""

from dataclasses import dataclass

from labelhub.core.schema import Schema, Value, fold, value_key


@dataclass(frozen=True, slots=True)
class Pair:
    """One item's predicted and gold value, both canonical."""

    item_id: int
    predicted: Value
    gold: Value


def is_right(schema: Schema, predicted: Value, gold: Value) -> bool:
    """Whether the whole prediction is what gold says: what exact match and accuracy count.

    A label of an older schema version that is no more in ``schema`` counts for neither side.
    """
    if not schema.task.labelled:
        return equal(predicted, gold)
    return known_names(schema, predicted) == known_names(schema, gold)


def known_names(schema: Schema, value: Value) -> frozenset[str]:
    """The labels of ``schema`` that a value of a labelled task names."""
    return schema.names_in(value).intersection(schema.names)


def distance(one: Value, other: Value) -> float:
    """How far two points of an ordinal scale are apart.

    Raises:
        TypeError: one of them is no number.
    """
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other)
    raise TypeError(f"only points of a scale have a distance, not {one!r} and {other!r}")


def equal(predicted: Value, gold: Value) -> bool:
    """Whether two answers are the same; texts are compared folded."""
    if isinstance(predicted, str) and isinstance(gold, str):
        return fold(predicted) == fold(gold)
    return value_key(predicted) == value_key(gold)
