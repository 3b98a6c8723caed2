"""The gold of a project as a lesson."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Left

from apps.labels.models import Gold, ItemState, Kind
from apps.labels.selectors import VERIFIED
from apps.learning.selectors.answers import Answers, options_of
from apps.projects.models import Item, LabelSchema
from labelhub.core.learning import READ, Document, Lesson, check_enough

#: The newest decisions beyond these are enough for a classifier of words, and bound its memory.
MOST_GOLD = 20_000
#: Of what was said before, the last words are nearest to the text.
TURNS = 4
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Reading:
    """Decisions to learn from, the oldest first: of each its row, its item and its labels."""

    answers: Answers
    golds: Sequence[int]
    items: Sequence[int]
    targets: Sequence[Sequence[int]]
    left_out: int


def newest_gold(project_id: int) -> int:
    """The key of the project's newest decision, 0 without any."""
    newest = Gold.objects.filter(item__project=project_id).order_by("-pk").values_list("pk")
    found = newest.first()
    return int(found[0]) if found else 0


def read_gold(schema: LabelSchema, until: int) -> Reading:
    """What people had decided when the newest decision was ``until``, without the texts.

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
    """The same with the texts and what debates said of them; whether that was the offline model.

    Items that were erased meanwhile have no text, and teach nothing.
    """
    documents: dict[int, Document] = {}
    for at in range(0, len(reading.items), CHUNK):
        documents.update(documents_of(Item.objects.filter(pk__in=reading.items[at : at + CHUNK])))
    said, offline = _debated(reading)
    answers = reading.answers
    lesson = Lesson(
        shape=answers.shape,
        names=answers.names,
        documents=[documents.get(item, Document("")) for item in reading.items],
        targets=reading.targets,
        beside=[answers.number(said.get(item)) for item in reading.items],
    )
    return lesson, offline


def documents_of(items: QuerySet[Item]) -> Iterator[tuple[int, Document]]:
    """Item → what a classifier reads of it; no more of a long text leaves the database."""
    rows = items.annotate(start=Left("text", READ), asked=Left("question", READ))
    for pk, text, question, context in rows.values_list("pk", "start", "asked", "context"):
        yield pk, Document(text, question, _words(context))


def _words(context: Sequence[Any]) -> str:
    turns = [turn.get("text", "") for turn in context[-TURNS:] if isinstance(turn, dict)]
    return " ".join(str(turn)[:READ] for turn in turns)


def _decisions(project_id: int, until: int) -> QuerySet[Gold]:
    """Of each item the newest decision by then, unless it withdraws or a machine made it."""
    then = Gold.objects.filter(pk__lte=until)
    newer = then.filter(item=OuterRef("item"), pk__gt=OuterRef("pk"))
    people = then.filter(
        ~Exists(newer), item__project=project_id, withdrawn=False, basis__in=VERIFIED
    )
    return people.exclude(decided_by__kind__in=(Kind.LLM, Kind.MODEL))


def _debated(reading: Reading) -> tuple[dict[int, Any], bool]:
    """Item → what an LLM's debate suggested of it; whether any of them was the offline model."""
    said: dict[int, Any] = {}
    offline = False
    names = ("item_id", "suggestion__value", "suggestion__annotator__offline")
    for at in range(0, len(reading.items), CHUNK):
        rows = ItemState.objects.filter(
            item__in=reading.items[at : at + CHUNK], suggestion__annotator__kind=Kind.LLM
        )
        for item, value, by_offline in rows.values_list(*names):
            said[item] = value
            offline = offline or by_offline
    return said, offline
