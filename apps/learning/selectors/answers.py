"""A schema's answers as a classifier knows them: numbers of labels, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from labelhub.core.errors import InvalidInput
from labelhub.core.learning import Shape
from labelhub.core.schema import Schema, Value, ValueNotOffered, value_key
from labelhub.core.schema.definition import fold

Options = frozenset[str]


class NotLearnable(InvalidInput):
    """A classifier cannot answer what this project asks."""

    code = "not_learnable"


@dataclass(frozen=True, slots=True)
class Answers:
    """What may be said of an item, in the order of the classifier's labels. ``options``: of items
    that bring their own, those that all of them have in common with the gold."""

    schema: Schema
    shape: Shape
    names: Sequence[str]
    values: Sequence[Value]
    options: Options | None = None
    _numbers: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, schema: Schema, offered: Mapping[Options, Sequence[str]]) -> Self:
        """The answers of a schema; ``offered``: the different sets of options of items with gold,
        as one of them spells each, where items bring their own.

        Raises:
            NotLearnable: the answers are free texts, or each item has other ones.
        """
        task = schema.task
        if task.why_not_learnable:
            raise NotLearnable(task.why_not_learnable)
        if task.item_options:
            return cls._of_items(schema, offered)
        labels = list(schema.labels)
        if task.ordered:
            labels.sort(key=lambda label: label.point or 0)
        values = [schema.normalise(label.name) for label in labels] if task.ordered else ()
        names = [label.name for label in labels]
        return cls._numbered(schema, Shape(task.learned_as), names, values)

    @classmethod
    def _of_items(cls, schema: Schema, offered: Mapping[Options, Sequence[str]]) -> Self:
        """One question with the same options on every item is a choice of labels like any other."""
        sets = [each for each in offered if each]
        if len(sets) != 1:
            raise NotLearnable(
                "Each item of this project brings its own options: what is right for one tells "
                "nothing of another. Learning works where all decided items offer the same ones."
                if sets
                else "No decided item offers options: there are no labels to learn."
            )
        names = offered[sets[0]]
        return cls._numbered(schema, Shape.SINGLE, names, options=sets[0])

    @classmethod
    def _numbered(
        cls,
        schema: Schema,
        shape: Shape,
        names: Sequence[str],
        values: Sequence[Value] = (),
        *,
        options: Options | None = None,
    ) -> Self:
        """``values`` are the names themselves unless they are given."""
        values = values or names
        folded = options is not None
        numbers = {_key(value, folded=folded): at for at, value in enumerate(values)}
        return cls(schema, shape, names, values, options, numbers)

    def number(self, value: Any) -> list[int] | None:
        """The numbers of the labels that ``value`` names; None where it is not offered now."""
        if value is None:
            return None
        if self.shape is Shape.MULTI:
            try:
                value = self.schema.normalise(value)
            except ValueNotOffered:
                return None
            return sorted(self._numbers[_key(name, folded=False)] for name in value)
        at = self._numbers.get(_key(value, folded=self.options is not None))
        return None if at is None else [at]

    def value(self, numbers: Sequence[int], options: Sequence[str] = ()) -> Value:
        """The canonical value of these labels, in the item's own spelling."""
        if self.shape is Shape.MULTI:
            return [str(self.values[at]) for at in sorted(numbers)]
        value = self.values[numbers[0]]
        if self.options is None:
            return value
        return next(option for option in options if fold(option) == fold(str(value)))

    def fits(self, options: Sequence[str]) -> bool:
        """Whether an item with these options asks what was learnt."""
        return self.options is None or options_of(options) == self.options


def options_of(options: Sequence[str]) -> Options:
    """The options of an item, whatever their order and spelling."""
    return frozenset(fold(option) for option in options)


def _key(value: Any, *, folded: bool) -> str:
    return fold(value) if folded and isinstance(value, str) else value_key(value)
