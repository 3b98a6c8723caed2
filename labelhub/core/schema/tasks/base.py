"""The base class of label types: everything that differs by the kind of answer."""

import unicodedata
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

from labelhub.core.phrases import Phrase
from labelhub.core.schema.content import (
    NoAnswer,
    is_placeholder,
    match_name,
    off_menu_error,
    offered,
    strip_decoration,
)
from labelhub.core.schema.definition import (
    LabelDef,
    Schema,
    SchemaError,
    Value,
    ValueNotOffered,
    fold,
    not_offered_error,
    unstorable,
    value_words,
)
from labelhub.core.schema.menu import Menu, menu_of
from labelhub.core.schema.migration import Fate, SchemaPlan

#: Control and format characters and all kinds of space: a text of only these is invisible.
UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
#: The coefficients for values that are the same or not.
NOMINAL = ("alpha_nominal", "gwet_ac1", "brennan_prediger", "fleiss_kappa", "conger_kappa")


class LabelType:
    """A kind of answer. Each type has one instance; a project's schema has a type by its name.

    A subclass overrides the attributes and methods that differ. This class itself describes one of
    the schema's labels: the value is the label's name (``str``). Code outside this package never
    asks for a certain type; it reads the attributes that it needs.
    """

    #: The name in JSON, in the database and in prompts.
    name: ClassVar[str]
    #: The explanation of the type for those who choose one: a title, a sentence, an example.
    title: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str]
    #: The questions to models and to people if the schema has no question of its own.
    question: ClassVar[str] = "Which of the labels fits the text?"
    question_to_people: ClassVar[str] = "Which one fits?"
    #: The instruction to somebody who sent an empty answer.
    answer_instruction: ClassVar[str] = Phrase("give a label")

    # The shape of a value.
    #: A value is a list of label names: the present labels.
    several: ClassVar[bool] = False
    #: The labels are points of a scale, and a value is a number.
    ordered: ClassVar[bool] = False
    #: The answer is free text: there are no names to choose from.
    written: ClassVar[bool] = False
    #: Each item has its own names to choose from.
    item_options: ClassVar[bool] = False
    #: The least number of labels in a schema.
    least_labels: ClassVar[int] = 2

    #: Answers of several annotators are often the same, so they can be counted.
    votable: ClassVar[bool] = True
    #: The coefficients reported beside percent agreement, the recommended one first.
    coefficients: ClassVar[tuple[str, ...]] = NOMINAL
    #: The coefficient between two kinds of annotators.
    pair_coefficient: ClassVar[str] = "cohen_kappa"
    #: The figure that says how often a kind is right.
    truth_measure: ClassVar[str] = "majority_accuracy"
    #: The shape that a classifier learns, by its name in ``core.learning``.
    learned_as: ClassVar[str] = "single"

    # Reasons against, in words; empty if there is none.
    #: Why a schema has no labels of its own.
    unlabelled_reason: ClassVar[str] = ""
    #: Why chance agreement cannot be removed.
    no_chance_reason: ClassVar[str] = ""
    #: The same reason as a code of reports.
    chance_refusal: ClassVar[str] = ""
    #: Why no classifier can learn to answer.
    not_learnable_reason: ClassVar[str] = ""

    # Files and pages.
    #: A column of a typed table: "class", "classes" (a list), "number" or "text".
    column: ClassVar[str] = "class"
    #: The task category of the Hugging Face Hub, and the description of a value on a data card.
    hub_category: ClassVar[str] = "text-classification"
    hub_words: ClassVar[str] = "one of the labels below"
    #: The template of the answer fields.
    answer_template: ClassVar[str] = "reviews/answer_choices.html"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"LabelType({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, such as one from a cache, is the same instance."""
        return label_type, (self.name,)

    @property
    def labelled(self) -> bool:
        """Whether values consist of the schema's labels, so that all items share categories."""
        return not self.written and not self.item_options

    @property
    def takes_labels(self) -> bool:
        """Whether a schema must name its labels: not if the type has none, or adds its own."""
        try:
            return self.labelled and not self.check_labels(())
        except SchemaError:
            return True

    @property
    def one_of_several(self) -> bool:
        """Whether a value is one of several given names."""
        return not self.written and not self.several

    @property
    def prompt_task(self) -> "PromptTask":
        """The variable ``task`` of prompts."""
        return PromptTask(self)

    def check_labels(self, labels: tuple[LabelDef, ...]) -> tuple[LabelDef, ...]:
        """The labels of a new schema, completed.

        Raises:
            SchemaError: they do not fit this type.
        """
        return labels

    def of_item(self, schema: Schema, options: Sequence[str]) -> Schema:
        """The schema for an item with these options."""
        return schema

    def offered(self, schema: Schema, options: Sequence[str]) -> tuple[str, ...]:
        """The names that an answer may use; empty for free text."""
        return schema.names

    def normalise(self, schema: Schema, raw: Any, options: Sequence[str]) -> Value:
        """The canonical value of ``raw``, which comes from a person, a file or a program.

        Raises:
            ValueNotOffered: the value has the wrong shape or is not offered.
        """
        found = schema.label(raw) if isinstance(raw, str) else None
        if found is None:
            raise not_offered_error(raw, schema.names)
        return found.name

    def knows(self, schema: Schema, name: Any) -> bool:
        """Whether ``name``, from a file, is a label of the schema."""
        return isinstance(name, str) and schema.label(name) is not None

    def names_in(self, schema: Schema, value: Value) -> list[str]:
        """The names in a canonical value; of a written answer the text itself."""
        return list(value) if isinstance(value, list) else [str(value)]

    def name_of(self, schema: Schema, value: Value) -> str:
        """The value as prompts and tables show it: a scale point by its name."""
        return value_words(value)

    def values(self, schema: Schema, options: Sequence[str]) -> list[Value]:
        """A value for each offered name; two examples if the answer is free text."""
        return list(schema.offered(options))

    def read_content(self, schema: Schema, content: str, options: Sequence[str]) -> Value:
        """The value that the content of a model's decision spells, by exact spelling alone.

        Raises:
            ValueNotOffered: it names something that is not offered, or several names for one value;
                ``data["off_menu"]`` holds the words.
            NoAnswer: it is the placeholder of the prompt.
        """
        menu = menu_of(schema, options)
        name = match_name(content, menu)
        if name is not None:
            return offered(name, schema, options)
        if is_placeholder(content):
            raise NoAnswer("The answer repeats the form it was asked for.")
        return self._read_other(schema, strip_decoration(content), menu)

    def _read_other(self, schema: Schema, form: str, menu: Menu) -> Value:
        """The value of an answer that is none of the names."""
        raise off_menu_error(form, menu.names)

    def from_cell(self, schema: Schema, raw: Any) -> Any:
        """The argument for ``normalise`` from a cell of a file: file formats flatten values.

        Raises:
            ValueNotOffered: the cell is not blank but has no name in it.
        """
        only = unwrap_single(raw)
        return name_from_number(only) if isinstance(only, int | float) else only

    def migrate(self, plan: SchemaPlan, value: Value) -> Value | Fate:
        """The value or fate of a canonical value under the changed schema of ``plan``."""
        return plan.names.get(str(value), Fate.NEEDS_PEOPLE)

    def answer_key(self, schema: Schema, value: Value) -> Hashable:
        """Equal for two values that are the same answer.

        A label of an older schema version that is no longer in ``schema`` counts for nothing.
        """
        return frozenset(self.names_in(schema, value)).intersection(schema.names)

    def labels_in_order(self, schema: Schema) -> Sequence[LabelDef]:
        """The schema's labels; those of a scale from the lowest point to the highest."""
        return schema.labels


class PromptTask(str):
    """A type as prompts see it: its name, with the shape of its values as attributes.

    The shipped prompts read the attributes alone, so a new type needs no edit of them.
    """

    __slots__ = ("item_options", "labelled", "ordered", "several", "written")

    def __new__(cls, task: LabelType) -> Self:
        """The name of ``task``."""
        return super().__new__(cls, task.name)

    def __init__(self, task: LabelType) -> None:
        self.several = task.several
        self.ordered = task.ordered
        self.written = task.written
        self.item_options = task.item_options
        self.labelled = task.labelled


#: Name → type, in the order in which they are offered; filled by the package.
TASKS: dict[str, LabelType] = {}


def label_type(name: str) -> LabelType:
    """The type of that name.

    Raises:
        KeyError: there is no such type.
    """
    return TASKS[name]


def read_text(raw: Any) -> str:
    """A visible text without outer blanks.

    Raises:
        ValueNotOffered: ``raw`` is no such text.
    """
    if not isinstance(raw, str) or all(unicodedata.category(sign) in UNSEEN for sign in raw):
        raise ValueNotOffered(Phrase("The answer must be text and not empty."))
    if bad := unstorable(raw):
        raise ValueNotOffered(Phrase("The answer must not contain %(bad)s.", bad=bad))
    return raw.strip()


def read_option(raw: Any, options: Sequence[str]) -> str:
    """The option that ``raw`` spells.

    Raises:
        ValueNotOffered: ``raw`` spells no option.
    """
    if isinstance(raw, str):
        for option in options:
            if fold(option) == fold(raw):
                return option
    raise not_offered_error(raw, options)


def unwrap_single(raw: Any) -> Any:
    """The value itself of a list with one value, as Label Studio and Argilla write it."""
    return raw[0] if isinstance(raw, list) and len(raw) == 1 else raw


def name_from_number(number: float) -> str:
    """The label name that a spreadsheet turned into a number or a truth value."""
    if isinstance(number, bool):
        return str(number).lower()
    return str(int(number)) if number == int(number) else str(number)
