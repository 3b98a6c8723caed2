"""Free text: the value is the text (``str``, not empty, without outer blanks)."""

from collections.abc import Hashable, Sequence
from typing import Any

from labelhub.core.phrases import Phrase
from labelhub.core.schema.content import NoAnswer, is_placeholder
from labelhub.core.schema.definition import Schema, Value, fold
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.tasks.base import NOMINAL, LabelType, read_text
from labelhub.core.texts import gettext_noop


class Text(LabelType):
    """The answer is free text; there is nothing to choose from."""

    name = "text"
    title = gettext_noop("Free text")
    summary = gettext_noop("The answer is written.")
    example = "“a summary in one line”"
    question = "What is to be said about the text?"
    written = True
    votable = False
    least_labels = 0
    coefficients = ("alpha_token_f1", "token_f1", "s_q", *NOMINAL)
    pair_coefficient = truth_measure = "token_f1"
    column = "text"
    hub_category = "text-generation"
    hub_words = "words"
    answer_template = "reviews/answer_text.html"
    unlabelled_reason = Phrase("answers are free texts")
    no_chance_reason = gettext_noop(
        "free texts have no categories, so chance agreement cannot be removed"
    )
    not_learnable_reason = Phrase("The answers are free texts: there are no labels to learn.")

    def offered(self, schema: Schema, options: Sequence[str]) -> tuple[str, ...]:
        """Nothing: any text is an answer."""
        return ()

    def normalise(self, schema: Schema, raw: Any, options: Sequence[str]) -> Value:
        """From any visible text."""
        return read_text(raw)

    def values(self, schema: Schema, options: Sequence[str]) -> list[Value]:
        """Two different texts."""
        return ["one answer", "another answer"]

    def read_content(self, schema: Schema, content: str, options: Sequence[str]) -> Value:
        """The whole content, without emphasis around it."""
        if is_placeholder(content):
            raise NoAnswer("The answer repeats the form it was asked for.")
        return schema.normalise(content.strip(" \t\r\n*"))

    def migrate(self, plan: SchemaPlan, value: Value) -> Value | Fate:
        """Unchanged."""
        return value

    chance_refusal = "free_text"

    def answer_key(self, schema: Schema, value: Value) -> Hashable:
        """The folded words."""
        return fold(str(value))
