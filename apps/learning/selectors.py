"""The gold of a project as a lesson, and the state of learning from it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Left

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.blindness import hidden_from
from apps.labels.models import Gold, ItemState, Kind
from apps.labels.selectors import VERIFIED
from apps.learning.models import LearningSwitch, Score, TrainedModel
from apps.projects.models import Item, LabelSchema, Project
from apps.projects.selectors import role_in
from labelhub.core.errors import InvalidInput
from labelhub.core.learning import (
    LEAST_GOLD,
    READ,
    Document,
    Lesson,
    Shape,
    check_enough,
    labels_until_relearning,
)
from labelhub.core.phrases import Phrase
from labelhub.core.schema import Schema, Value, ValueNotOffered, value_key
from labelhub.core.schema.definition import fold

Options = frozenset[str]


class NotLearnable(InvalidInput):
    """A classifier cannot learn the answers of this project."""

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
        if task.not_learnable_reason:
            raise NotLearnable(task.not_learnable_reason)
        if task.item_options:
            # The same options on every item are a choice of labels like any other.
            sets = [options for options in offered if options]
            if len(sets) != 1:
                raise NotLearnable(
                    Phrase(
                        "Each item of this project brings its own options, so one item teaches "
                        "nothing about another. Learning works if all decided items offer the same "
                        "options."
                    )
                    if sets
                    else Phrase("No decided item offers options: there are no labels to learn.")
                )
            shape, options, names = Shape.SINGLE, sets[0], offered[sets[0]]
        else:
            shape, options = Shape(task.learned_as), None
            names = [label.name for label in task.labels_in_order(schema)]
        values = [schema.normalise(name) for name in names] if task.ordered else names
        folded = options is not None
        numbers = {_key(value, folded=folded): number for number, value in enumerate(values)}
        return cls(schema, shape, names, values, options, numbers)

    def number(self, value: Any) -> list[int] | None:
        """The numbers of the labels in ``value``; None if the schema does not offer it now."""
        if value is None:
            return None
        if self.shape is Shape.MULTI:
            try:
                value = self.schema.normalise(value)
            except ValueNotOffered:
                return None
            return sorted(self._numbers[_key(name, folded=False)] for name in value)
        number = self._numbers.get(_key(value, folded=self.options is not None))
        return None if number is None else [number]

    def value(self, numbers: Sequence[int], options: Sequence[str] = ()) -> Value:
        """The canonical value of these labels, in the item's own spelling."""
        if self.shape is Shape.MULTI:
            return [str(self.values[number]) for number in sorted(numbers)]
        value = self.values[numbers[0]]
        if self.options is None:
            return value
        return next(option for option in options if fold(option) == fold(str(value)))

    def fits(self, options: Sequence[str]) -> bool:
        """Whether an item with these options asks the question that was learnt."""
        return self.options is None or options_of(options) == self.options


def options_of(options: Sequence[str]) -> Options:
    return frozenset(fold(option) for option in options)


def _key(value: Any, *, folded: bool) -> str:
    return fold(value) if folded and isinstance(value, str) else value_key(value)


#: The newest decisions beyond these are enough for a classifier of words, and bound its memory.
MOST_GOLD = 20_000
#: The last turns before an item that are read.
TURNS = 4
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Reading:
    """Decisions to learn from, the oldest first: the row, item and labels of each."""

    answers: Answers
    golds: Sequence[int]
    items: Sequence[int]
    targets: Sequence[Sequence[int]]
    left_out: int


def newest_gold(project_id: int) -> int:
    """The key of the project's newest decision, 0 without any."""
    golds = Gold.objects.filter(item__project=project_id).order_by("-pk")
    return golds.values_list("pk", flat=True).first() or 0


def read_gold(schema: LabelSchema, until: int) -> Reading:
    """People's decisions up to the decision ``until``, without the texts.

    Raises:
        NotLearnable: see ``Answers.of``.
        TooLittleGold: see ``check_enough``.
    """
    parsed = schema.parsed
    rows = _decisions(schema.project_id, until).order_by("-pk")
    total = rows.count()
    found = list(rows.values_list("pk", "item_id", "value", "item__options")[:MOST_GOLD])[::-1]
    of_items = found if parsed.task.item_options else []
    offered = {options_of(options): options for *_, options in of_items}
    answers = Answers.of(parsed, offered)
    known = [
        (gold, item, numbers)
        for gold, item, value, _ in found
        if (numbers := answers.number(value)) is not None
    ]
    targets = [numbers for *_, numbers in known]
    check_enough(answers.shape, answers.names, targets)
    return Reading(
        answers=answers,
        golds=[gold for gold, *_ in known],
        items=[item for _, item, _ in known],
        targets=targets,
        left_out=total - len(known),
    )


def read_lesson(reading: Reading) -> tuple[Lesson, bool]:
    """The same with the texts and the debates' labels; whether the offline model gave any of them.

    Items that were erased meanwhile have no text, and teach nothing.
    """
    documents: dict[int, Document] = {}
    for start in range(0, len(reading.items), CHUNK):
        documents.update(
            read_documents(Item.objects.filter(pk__in=reading.items[start : start + CHUNK]))
        )
    suggested, offline = _llm_suggestions(reading)
    answers = reading.answers
    lesson = Lesson(
        shape=answers.shape,
        names=answers.names,
        documents=[documents.get(item, Document("")) for item in reading.items],
        targets=reading.targets,
        beside=[answers.number(suggested.get(item)) for item in reading.items],
    )
    return lesson, offline


def read_documents(items: QuerySet[Item]) -> Iterator[tuple[int, Document]]:
    """Item → the text that a classifier reads; no more of a long text leaves the database."""
    rows = items.annotate(start=Left("text", READ), asked=Left("question", READ))
    for pk, text, question, context in rows.values_list("pk", "start", "asked", "context"):
        turns = [turn.get("text", "") for turn in context[-TURNS:] if isinstance(turn, dict)]
        yield pk, Document(text, question, " ".join(str(turn)[:READ] for turn in turns))


def _decisions(project_id: int, until: int) -> QuerySet[Gold]:
    """The newest decision of each item by then, unless it withdraws one or a machine made it."""
    then = Gold.objects.filter(pk__lte=until)
    newer = then.filter(item=OuterRef("item"), pk__gt=OuterRef("pk"))
    people = then.filter(
        ~Exists(newer), item__project=project_id, withdrawn=False, basis__in=VERIFIED
    )
    return people.exclude(decided_by__kind__in=(Kind.LLM, Kind.MODEL))


def _llm_suggestions(reading: Reading) -> tuple[dict[int, Any], bool]:
    """Item → the label that an LLM's debate suggested; whether any was the offline model's."""
    suggested: dict[int, Any] = {}
    offline = False
    names = ("item_id", "suggestion__value", "suggestion__annotator__offline")
    for start in range(0, len(reading.items), CHUNK):
        rows = ItemState.objects.filter(
            item__in=reading.items[start : start + CHUNK], suggestion__annotator__kind=Kind.LLM
        )
        for item, value, by_offline in rows.values_list(*names):
            suggested[item] = value
            offline = offline or by_offline
    return suggested, offline


@dataclass(frozen=True, slots=True)
class LearningState:
    """The switch, the newest model with measured quality, and the model in training, if any."""

    on: bool
    decided: int
    measured: TrainedModel | None
    going: TrainedModel | None
    last: TrainedModel | None

    @property
    def missing(self) -> int:
        return max(0, LEAST_GOLD - self.decided)

    @property
    def next_at(self) -> int:
        """The number of decided items at which it retrains automatically."""
        return (
            self.last.decided + labels_until_relearning(self.last.decided)
            if self.last
            else LEAST_GOLD
        )

    @property
    def failed(self) -> TrainedModel | None:
        """The last model if its training failed."""
        failed = self.last is not None and self.last.status == TrainedModel.Status.FAILED
        return self.last if failed else None


def learning_state(project: Project) -> LearningState:
    """The state of learning. Four queries."""
    models = TrainedModel.objects.filter(project=project).order_by("-version")
    last = models.first()
    measured = models.filter(quality__isnull=False).select_related("schema").first()
    return LearningState(
        on=LearningSwitch.objects.filter(project=project, on=True).exists(),
        decided=decided_items(project.pk),
        measured=measured,
        going=last if last is not None and last.unfinished else None,
        last=last,
    )


def decided_items(project_id: int) -> int:
    return ItemState.objects.filter(project=project_id, stage=ItemState.Stage.DECIDED).count()


def may_see_suspects(user: User, project: Project) -> bool:
    """Reviewers may not: the list reveals the gold of their gold questions and of items that they
    may be about to label."""
    return role_in(user, project) in (Role.MANAGER, Role.VIEWER)


def suspects_of(project: Project, user: User) -> QuerySet[Score]:
    """Decisions that are probably wrong, the worst first; none that was changed since, none for
    reviewers, and none that the user must still audit blind."""
    if not may_see_suspects(user, project):
        return Score.objects.none()
    suspected = Score.objects.filter(
        project=project, suspicion__isnull=False, item__state__gold=F("gold")
    )
    return (
        suspected.exclude(hidden_from(user.pk or 0, item="item_id"))
        .select_related("item", "gold", "model")
        .order_by("-suspicion", "pk")
    )
