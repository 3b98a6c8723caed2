"""Each item's own options: the value is one of them (``str``); free text without options."""

from collections.abc import Hashable, Sequence
from typing import Any

from labelhub.core.phrases import Phrase
from labelhub.core.schema.definition import Schema, Value, fold
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.tasks.base import NOMINAL, LabelType, read_option, read_text
from labelhub.core.schema.tasks.text import Text
from labelhub.core.texts import gettext_noop


class PerItem(LabelType):
    """Items have their own question and options."""

    name = "per_item"
    title = gettext_noop("Each item asks")
    summary = gettext_noop("Items bring their own question and options.")
    example = "“What did you mean?”"
    question = "Which of the choices given with the text is right?"
    item_options = True
    least_labels = 0
    coefficients = ("s_q", *NOMINAL)
    pair_coefficient = "s_q"
    column = "text"
    hub_category = "multiple-choice"
    hub_words = "one of the item's own options"
    unlabelled_reason = Phrase("each item brings its own options")
    no_chance_reason = gettext_noop(
        "options differ from item to item, so chance agreement cannot be removed"
    )

    def __init__(self, without_options: Text) -> None:
        """``without_options``: the type of an item without options."""
        self._without_options = without_options

    def of_item(self, schema: Schema, options: Sequence[str]) -> Schema:
        """Free text for an item without options."""
        return schema if options else Schema(self._without_options, schema.question)

    def offered(self, schema: Schema, options: Sequence[str]) -> tuple[str, ...]:
        """The item's own options."""
        return tuple(options)

    def normalise(self, schema: Schema, raw: Any, options: Sequence[str]) -> Value:
        """From the words of an option; from any text without options."""
        return read_option(raw, options) if options else read_text(raw)

    def migrate(self, plan: SchemaPlan, value: Value) -> Value | Fate:
        """Unchanged: options are no labels of the schema."""
        return value

    chance_refusal = "own_options"

    def answer_key(self, schema: Schema, value: Value) -> Hashable:
        """The folded option."""
        return fold(str(value))
