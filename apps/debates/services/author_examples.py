"""Examples for predictions of authors: their other answers, with the labels of one source.

    book = AuthorExamples.of_run(run)       # in the database thread, once per slice
    found = await book.for_items(items)     # for each claim: item id → examples

All runs of an experiment show the same examples with different labels. An author's answers belong
to one annotator, so that erasing the author also deletes all debates that show their texts.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from apps.debates.models import Run
from apps.labels.models import Kind, Label
from apps.projects.models import Item, Project
from apps.projects.selectors import CLUSTER_KEYS
from labelhub.core.debate.outcome import Precedent
from labelhub.core.debate.predict import (
    EXAMPLES,
    LABELS_BY,
    NAME,
    AuthorAnswer,
    example_pools,
    select_examples,
    shown_label,
)
from labelhub.core.phrases import Phrase
from labelhub.core.schema import Schema, ValueNotOffered, fold

SOURCES = (Kind.AUTHOR, Kind.LLM, Kind.CROWD, Kind.EXPERT)
COLUMNS = ("pk", "external_id", "text", "question", "options", "meta")
#: Labels and items that are read at once.
CHUNK = 2000


class AuthorExamples:
    """The answers of authors, and the examples for a prediction.

    Args:
        answers: of all authors.
        sources: the annotators who must have labelled an example.
        settings: those of the protocol ``predict``.

    Attributes:
        note: a remark on the examples for people.
    """

    note = ""

    def __init__(
        self,
        answers: Sequence[AuthorAnswer],
        sources: Collection[str],
        settings: Mapping[str, Any],
    ) -> None:
        self._answers = {answer.item: answer for answer in answers}
        self._pools = example_pools(answers, sources)
        self._sources = sources
        self._source, self._count = settings[LABELS_BY.name], settings[EXAMPLES.name]

    @classmethod
    def of_run(cls, run: Run) -> "AuthorExamples":
        """Examples that every source of the run's experiment has labelled."""
        settings, until = [run.protocol_settings], run.created_at
        if run.experiment is not None:
            together = Run.objects.filter(experiment=run.experiment, protocol=NAME)
            settings += together.values_list("protocol_settings", flat=True)
            until = run.experiment.created_at
        sources = {chosen[LABELS_BY.name] for chosen in settings}
        answers = read_answers(run.project, run.schema.parsed, until)
        return cls(answers, sources, run.protocol_settings)

    def __len__(self) -> int:
        return len(self._answers)

    def for_item(self, item: Item) -> tuple[Precedent, ...]:
        """The examples for ``item``; none if its author has not answered."""
        return tuple(
            Precedent(answer.key, label, answer.text, question=answer.question)
            for answer in self._select(item.pk)
            if (label := shown_label(answer, self._source)) is not None
        )

    async def for_items(self, items: Sequence[Item]) -> dict[int, tuple[Precedent, ...]]:
        """The examples of each item, by its id."""
        return {item.pk: self.for_item(item) for item in items}

    def predictable(self) -> dict[int, str]:
        """Items whose authors have as many other answers as are to be shown, at least one: id and
        external id."""
        least = max(1, self._count)
        found = {}
        for item, answer in self._answers.items():
            others = {other.asked for other in self._pool(answer) if other.item != item}
            if len(others - {answer.asked}) >= least:
                found[item] = answer.key
        return found

    def missing(self) -> str:
        """Why no prediction is possible, in words."""
        if not self._answers:
            return (
                "No author has answered about this project's items yet. Where one annotator stands "
                "for all authors, the items need a user_id in their meta data."
            )
        counts = []
        for source in sorted(self._sources):
            shown = (shown_label(answer, source) for answer in self._answers.values())
            counts.append(f"{source} {sum(label is not None for label in shown):,}")
        wanted = max(1, self._count)
        return Phrase(
            "No author has %(wanted)s more answers that every compared source has labelled. Of "
            "%(value)s answered items have labels: %(counts)s. Show fewer examples, or leave a "
            "source out.",
            wanted=wanted,
            value=len(self),
            counts=", ".join(counts),
        )

    def _select(self, item: int) -> list[AuthorAnswer]:
        asked = self._answers.get(item)
        return [] if asked is None else select_examples(asked, self._pool(asked), self._count)

    def _pool(self, asked: AuthorAnswer) -> Sequence[AuthorAnswer]:
        return self._pools.get((asked.author, asked.conversation), ())


def read_answers(
    project: Project, schema: Schema, until: datetime | None = None
) -> list[AuthorAnswer]:
    """All answers of authors that the schema offers, in the order of their items; with the labels
    that were there at ``until``, so that runs which show them at different times show the same.

    Of a text with several authors the first to answer counts. Where one annotator stands for all
    authors, only items whose meta data name their author count. The offline model stands for LLMs
    only where no LLM has labelled.
    """
    labels = Label.objects.current().filter(
        item__project=project, value__isnull=False, annotator__kind__in=SOURCES
    )
    if until is not None:
        labels = labels.filter(created_at__lte=until)
    answered = labels.filter(annotator__kind=Kind.AUTHOR).order_by().values("item")
    given: dict[int, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    authors: dict[int, int] = {}
    columns = ("item_id", "annotator_id", "annotator__kind", "annotator__offline", "value")
    rows = labels.filter(item__in=answered).order_by("pk").values_list(*columns)
    for item, annotator, kind, offline, value in rows.iterator(CHUNK):
        given[item]["offline" if offline else kind].append(value)
        if kind == Kind.AUTHOR:
            authors.setdefault(item, annotator)
    llm = Kind.LLM if any(Kind.LLM in sources for sources in given.values()) else "offline"
    items = Item.objects.filter(project=project, pk__in=answered).order_by("pk")
    found = (
        _author_answer(item, schema, authors[item["pk"]], given[item["pk"]], llm)
        for item in items.values(*COLUMNS).iterator(CHUNK)
        if item["pk"] in authors
    )
    nobody = {f"{annotator}/" for annotator in authors.values()}
    named = len(nobody) > 1
    return [answer for answer in found if answer and (named or answer.author not in nobody)]


def _author_answer(
    item: Mapping[str, Any],
    schema: Schema,
    annotator: int,
    given: Mapping[str, Sequence[Any]],
    llm: str,
) -> AuthorAnswer | None:
    """The answer with its options; None if it is none of them."""
    options = tuple(schema.offered([str(option) for option in item["options"]]))
    labels = {
        str(kind): tuple(
            _offered_names(given.get(llm if kind == Kind.LLM else kind, ()), schema, item)
        )
        for kind in SOURCES
    }
    own = labels[Kind.AUTHOR][:1]
    if not own or len(options) < 2:
        return None
    meta = item["meta"]
    about = str(meta.get("feature") or item["question"])
    return AuthorAnswer(
        item=item["pk"],
        key=item["external_id"],
        author=f"{annotator}/{_meta_value(meta, ('users', 'authors'))}",
        conversation=_meta_value(meta, ("conversations", "dialogues", "threads")),
        text=item["text"],
        question=item["question"],
        asked=f"{fold(about)}\x1f{fold(item['text'])}",
        options=options,
        labels=labels | {str(Kind.AUTHOR): own},
    )


def _offered_names(values: Sequence[Any], schema: Schema, item: Mapping[str, Any]) -> Iterator[str]:
    """The names of the values that the schema offers for the item."""
    for value in values:
        try:
            yield schema.name_of(schema.normalise(value, item["options"]))
        except ValueNotOffered:
            continue


def _meta_value(meta: Mapping[str, Any], units: Collection[str]) -> str:
    """A value of the item's metadata."""
    keys = [key for key, unit in CLUSTER_KEYS.items() if unit in units]
    return next((str(meta[key]) for key in keys if meta.get(key) not in (None, "")), "")
