"""What authors have answered and others have said of the same items, read from the ledger."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from apps.agreement.sheets.clusters import KEYS
from apps.labels.models import Annotator, Kind, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.comparison import name_of
from labelhub.core.agreement.predictivity import AUTHOR, CHANCE, Answered, groups_of, usable
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Schema, Task, fold

CHUNK = 2000
THIRD_PARTIES = (Kind.LLM, Kind.CROWD, Kind.EXPERT)
TASKS = (Task.SINGLE, Task.ORDINAL, Task.PER_ITEM)
USER_KEYS = tuple(key for key, unit in KEYS.items() if unit in ("users", "authors"))
TALK_KEYS = tuple(
    key for key, unit in KEYS.items() if unit in ("conversations", "dialogues", "threads")
)
#: A source belongs to a study by itself when it has labelled this share of the answered items.
USUAL_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Answers:
    """What a project has for a study. ``offline``: no LLM but the offline model stands for LLMs."""

    schema: Schema
    rows: Sequence[Answered]
    offline: bool

    @property
    def labelled(self) -> Mapping[str, int]:
        """Answered items that each kind of third party has labelled, those with none left out."""
        counts = {
            str(kind): sum(bool(row.labels.get(kind)) for row in self.rows)
            for kind in THIRD_PARTIES
        }
        return {kind: count for kind, count in counts.items() if count}

    @property
    def users(self) -> int:
        """Authors who have answered."""
        return len({row.user for row in self.rows})

    @property
    def users_with_two(self) -> int:
        """Authors with two answers or more, of one conversation where conversations are known."""
        groups = groups_of(self.rows)
        enough = {
            row.user
            for row in self.rows
            if len({each.question for each in groups[row.user, row.conversation]}) > 1
        }
        return len(enough)

    @property
    def conversations(self) -> bool:
        """Whether it is known of any answer to which conversation it belongs."""
        return any(row.conversation for row in self.rows)

    @property
    def usual_sources(self) -> tuple[str, ...]:
        """The author, chance, and who has labelled at least half of the answered items."""
        least = USUAL_SHARE * len(self.rows)
        return (*(kind for kind, count in self.labelled.items() if count >= least), AUTHOR, CHANCE)


def read_answers(project: Project) -> Answers:
    """All usable answers of authors, in the order of their items; four queries.

    Raises:
        InvalidInput: the project's question has no menu of which one answer is right.
    """
    schema = current_schema(project).parsed
    if schema.task not in TASKS:
        raise InvalidInput(
            "Predictivity needs questions with one right answer out of several; this project asks "
            f"for {'a free text' if schema.task is Task.TEXT else 'a set of labels'}."
        )
    said = Label.objects.current().filter(item__project=project, value__isnull=False)
    own: dict[int, tuple[Any, int]] = {}
    by_authors = said.filter(annotator__kind=Kind.AUTHOR).order_by("pk")
    for item, value, annotator in by_authors.values_list("item_id", "value", "annotator_id"):
        # Of a text with several authors the first to answer is its author.
        own.setdefault(item, (value, annotator))
    by_others = said.filter(item__in=by_authors.order_by().values("item"))
    others, offline = _others(project, by_others)
    items = Item.objects.filter(project=project, labels__annotator__kind=Kind.AUTHOR)
    columns = items.distinct().order_by("pk").values("pk", "text", "question", "options", "meta")
    rows = [
        _row(schema, item, own[item["pk"]], others.get(item["pk"], {}))
        for item in columns.iterator(CHUNK)
        if item["pk"] in own
    ]
    return Answers(schema, usable(rows), offline)


def conversation_of(meta: Mapping[str, Any]) -> str:
    """The conversation that an item's meta data names; empty for none."""
    return _first(meta, TALK_KEYS)


def _others(
    project: Project, said: QuerySet[Label]
) -> tuple[dict[int, dict[str, list[Any]]], bool]:
    """Item → kind → values; and whether all that stands for LLMs is the offline model.

    The offline model is no LLM: beside labels of real ones its own do not count.
    """
    matchers = set(
        Annotator.objects.filter(project=project, offline=True).values_list("pk", flat=True)
    )
    found: dict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    matched: list[tuple[int, Any]] = []
    rows = said.filter(annotator__kind__in=THIRD_PARTIES).order_by("pk")
    real = False
    columns = ("item_id", "annotator__kind", "annotator_id", "value")
    for item, kind, annotator, value in rows.values_list(*columns).iterator(CHUNK):
        if annotator in matchers:
            matched.append((item, value))
            continue
        found[item][kind].append(value)
        real = real or kind == Kind.LLM
    if not real:
        for item, value in matched:
            found[item][Kind.LLM].append(value)
    return found, bool(matched) and not real


def _row(
    schema: Schema,
    item: Mapping[str, Any],
    own: tuple[Any, int],
    others: Mapping[str, Sequence[Any]],
) -> Answered:
    options = tuple(schema.offered([str(each) for each in item["options"]]))
    value, annotator = own
    labels = {str(kind): _names(schema, values, options) for kind, values in others.items()}
    return Answered(
        item=item["pk"],
        user=_first(item["meta"], USER_KEYS) or f"annotator {annotator}",
        conversation=conversation_of(item["meta"]),
        question=_mark(item),
        options=options,
        labels={AUTHOR: _names(schema, [value], options)}
        | {kind: names for kind, names in labels.items() if names},
    )


def _names(schema: Schema, values: Sequence[Any], options: Sequence[str]) -> tuple[str, ...]:
    """The options that the values mean, those that mean none left out."""
    by_form = {fold(option): option for option in options}
    forms = [fold(name_of(schema, value)) for value in values]
    return tuple(by_form[form] for form in forms if form in by_form)


def _mark(item: Mapping[str, Any]) -> str:
    """Equal for the same thing asked about the same text: a site asks again by its feature."""
    about = str(item["meta"].get("feature") or item["question"])
    content = f"{fold(about)}\x1f{fold(item['text'])}"
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _first(meta: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((str(meta[key]) for key in keys if meta.get(key) not in (None, "")), "")
