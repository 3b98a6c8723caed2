"""What a label type is: everything that differs by the kind of answer a project asks for."""

import unicodedata
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from labelhub.core.schema.carrying import Fate, SchemaPlan
from labelhub.core.schema.content import (
    NoAnswer,
    is_placeholder,
    off_menu,
    offered,
    one_name,
    undressed,
)
from labelhub.core.schema.definition import (
    LabelDef,
    Schema,
    Value,
    ValueNotOffered,
    fold,
    not_offered,
    unstorable,
    value_words,
)
from labelhub.core.schema.menu import Menu, menu_of

#: Control and format characters, and all kinds of space: a text of these alone shows nothing.
UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
#: What is reported beside percent agreement of values that are the same or not.
NOMINAL = ("alpha_nominal", "gwet_ac1", "brennan_prediger", "fleiss_kappa", "conger_kappa")


class LabelType:
    """A kind of answer; a project's schema has one, by its name. There is one instance of each.

    A subclass sets the attributes that differ and overrides the methods whose answer differs. As it
    stands, the class is for one of the schema's labels: the value is the label's name (``str``).
    Nothing outside this package may ask for a certain type; it asks for what it needs to know.
    """

    #: The name in JSON, in the database and in prompts.
    name: ClassVar[str]
    #: How the type is explained to those who choose one: a title, a sentence, an example.
    title: ClassVar[str]
    summary: ClassVar[str]
    example: ClassVar[str]
    #: What models are asked where the schema has no question of its own; and what people are.
    question: ClassVar[str] = "Which of the labels fits the text?"
    question_to_people: ClassVar[str] = "Which one fits?"
    #: What somebody is to do who sends no answer.
    wanted: ClassVar[str] = "give a label"

    # The shape of a value.
    #: A value is a list of label names: the labels that are present.
    several: ClassVar[bool] = False
    #: The labels are points of a scale, and a value is a number.
    ordered: ClassVar[bool] = False
    #: The answer is written freely: there are no names to choose from.
    written: ClassVar[bool] = False
    #: Each item brings the names to choose from.
    item_options: ClassVar[bool] = False
    #: The least number of labels in a schema.
    least_labels: ClassVar[int] = 2

    #: Answers of several can be counted: they are often the same.
    votable: ClassVar[bool] = True
    #: Names of what is reported beside percent agreement, the recommended coefficient first.
    coefficients: ClassVar[tuple[str, ...]] = NOMINAL
    #: The shape that a classifier learns, by its name in ``core.learning``.
    learned_as: ClassVar[str] = "single"

    # Why something is not done for the type; empty where it is.
    #: A schema has labels of its own.
    why_unlabelled: ClassVar[str] = ""
    #: Agreement by chance is removed from agreement.
    why_no_chance: ClassVar[str] = ""
    #: A classifier learns to answer.
    why_not_learnable: ClassVar[str] = ""

    # Files and pages.
    #: A column of a typed table: "class", "classes" (a list), "number" or "text".
    column: ClassVar[str] = "class"
    #: The task category of the Hugging Face Hub, and what a data set's card says of a value.
    hub_category: ClassVar[str] = "text-classification"
    hub_words: ClassVar[str] = "one of the labels below"
    #: The templates of the fields in which people answer, in the queue and when they decide.
    answer_template: ClassVar[str] = "reviews/answer_choices.html"
    ruling_template: ClassVar[str] = "reviews/ruling_choices.html"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"LabelType({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, such as one out of a cache, is the one instance that there is."""
        return label_type, (self.name,)

    @property
    def labelled(self) -> bool:
        """Whether values are made of the schema's labels: items share their categories."""
        return not self.written and not self.item_options

    @property
    def one_of_several(self) -> bool:
        """Whether a value is one out of names that can be listed."""
        return not self.written and not self.several

    @property
    def prompt_task(self) -> "PromptTask":
        """What prompts are given as ``task``."""
        return PromptTask(self)

    def check_labels(self, labels: tuple[LabelDef, ...]) -> tuple[LabelDef, ...]:
        """The labels of a new schema, completed.

        Raises:
            SchemaError: they do not make a schema of this type.
        """
        return labels

    def of_item(self, schema: Schema, options: Sequence[str]) -> Schema:
        """The schema as it is for an item with these options."""
        return schema

    def offered(self, schema: Schema, options: Sequence[str]) -> tuple[str, ...]:
        """The names that an answer may use; empty where it is written freely."""
        return schema.names

    def normalise(self, schema: Schema, raw: Any, options: Sequence[str]) -> Value:
        """The canonical value of ``raw``, as a person, a file or a program gives it.

        Raises:
            ValueNotOffered: the value is of the wrong shape or not among what is offered.
        """
        found = schema.label(raw) if isinstance(raw, str) else None
        if found is None:
            raise not_offered(raw, schema.names)
        return found.name

    def names_in(self, schema: Schema, value: Value) -> list[str]:
        """The names that a canonical value says apply; the words of a written answer."""
        return list(value) if isinstance(value, list) else [str(value)]

    def name_of(self, schema: Schema, value: Value) -> str:
        """The value as prompts and tables name it: on a scale by the name of the point."""
        return value_words(value)

    def values(self, schema: Schema, options: Sequence[str]) -> list[Value]:
        """A value for each name that is offered; two made-up ones where the answer is written."""
        return list(schema.offered(options))

    def read_content(self, schema: Schema, content: str, options: Sequence[str]) -> Value:
        """The value that a model's decision spells, by exact spelling alone.

        Raises:
            ValueNotOffered: it names something that is not offered, or more than one where one
                fits; ``data["off_menu"]`` has the words.
            NoAnswer: it is a placeholder of the form that was asked for.
        """
        menu = menu_of(schema, options)
        name = one_name(content, menu)
        if name is not None:
            return offered(name, schema, options)
        if is_placeholder(content):
            raise NoAnswer("The answer repeats the form it was asked for.")
        return self._read_other(schema, undressed(content).strip(), menu)

    def _read_other(self, schema: Schema, form: str, menu: Menu) -> Value:
        """What an answer means that is none of the names."""
        raise off_menu(form, menu.names)

    def from_cell(self, schema: Schema, raw: Any) -> Any:
        """What ``normalise`` takes, from a cell of a file: file formats flatten values.

        Raises:
            ValueNotOffered: the cell is not blank and names nothing.
        """
        only = only_one(raw)
        return spelled(only) if isinstance(only, int | float) else only

    def migrate(self, plan: SchemaPlan, value: Value) -> Value | Fate:
        """What a canonical value becomes when the labels are changed as ``plan`` says."""
        return plan.names.get(str(value), Fate.NEEDS_PEOPLE)


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
        KeyError: there is none.
    """
    return TASKS[name]


def read_text(raw: Any) -> str:
    """Any text that is not empty, without outer blanks.

    Raises:
        ValueNotOffered: it is none.
    """
    if not isinstance(raw, str) or all(unicodedata.category(sign) in UNSEEN for sign in raw):
        raise ValueNotOffered("The answer must be text and not empty.")
    if bad := unstorable(raw):
        raise ValueNotOffered(f"The answer must not contain {bad}.")
    return raw.strip()


def read_option(raw: Any, options: Sequence[str]) -> str:
    """The option that ``raw`` spells.

    Raises:
        ValueNotOffered: it spells none.
    """
    if isinstance(raw, str):
        for option in options:
            if fold(option) == fold(raw):
                return option
    raise not_offered(raw, options)


def only_one(raw: Any) -> Any:
    """Label Studio and Argilla write a list for one value."""
    return raw[0] if isinstance(raw, list) and len(raw) == 1 else raw


def spelled(number: float) -> str:
    """A label name that a spreadsheet turned into a number or a truth value."""
    if isinstance(number, bool):
        return str(number).lower()
    return str(int(number)) if number == int(number) else str(number)
