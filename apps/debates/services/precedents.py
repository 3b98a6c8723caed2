"""Precedents: the verified items of the project that are most similar to a debated text.

    book = PrecedentBook.of_run(run)                    # in the database thread, once per slice
    await book.embed_by(embed, model="provider/name")   # only with a model of embeddings
    found = await book.for_items(items)                 # for each claim: item id → precedents

Rules:

- Only decisions of people from before the run was created (``labels.selectors.verified_as_of``),
  so that a resumed run finds the same precedents. Never the answer of an LLM.
- Under the run's schema: a decision that it does not offer is none. The options of ``per_item`` are
  the items' own: an example counts for items that offer the option which is right for it.
- Never the item itself, nor any example that reads the same; of examples that read the same under
  one label only the latest.
- The texts alone are compared, because a precedent is shown without its context. For the same
  reason items with a question of their own have precedents under the same question only.
- Nothing that its own author was asked about: authors may have what they wrote deleted at any time,
  and then it must not be left in the debates of other items.
- An example that has no word in common still shows its label: a label without precedents would be
  at a disadvantage.
"""

import asyncio
import hashlib
import logging
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TypeAlias

import numpy as np
from django.db.models import Exists, OuterRef
from django.db.models.functions import Length
from numpy.typing import NDArray

from apps.debates.models import Run
from apps.labels.models import Gold, Kind, Label
from apps.labels.selectors import verified_as_of
from apps.projects.models import Item
from labelhub.core.debate.outcome import Precedent
from labelhub.core.errors import LabelhubError
from labelhub.core.phrases import Phrase
from labelhub.core.schema import Schema, ValueNotOffered, fold
from labelhub.core.similarity import (
    READ,
    Floats,
    TfIdfIndex,
    UnusableVectors,
    VectorIndex,
    closest,
    same_text_key,
    unit_rows,
)

#: Texts in one request, and the number of lists of texts whose vectors are cached.
TEXTS, KEPT = 100, 2

Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]]

_kept: OrderedDict[str, VectorIndex] = OrderedDict()
_lock = Lock()


async def vector_index(texts: Sequence[str], embed: Embed, *, model: str) -> VectorIndex:
    """The vectors of ``texts`` by ``model``; those of the latest lists of texts are cached.

    Raises:
        LabelhubError: as :func:`unit_vectors`.
    """
    digest = hashlib.sha256(model.encode())
    for text in texts:
        digest.update(f"\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
    key = digest.hexdigest()
    with _lock:
        known = _kept.get(key)
    if known is None:
        known = await asyncio.to_thread(VectorIndex, await unit_vectors(texts, embed))
    with _lock:
        _kept[key] = known
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return known


async def unit_vectors(texts: Sequence[str], embed: Embed) -> list[NDArray[np.float32]]:
    """The vectors of ``texts``, normalised to length one.

    Raises:
        LabelhubError: what ``embed`` raised for the first part of them that failed, or that its
            vectors cannot be used.
    """
    parts = [texts[start : start + TEXTS] for start in range(0, len(texts), TEXTS)]

    async def embed_part(part: Sequence[str]) -> NDArray[np.float32] | LabelhubError:
        # Errors are returned, because a raised error would cancel requests that are already paid.
        try:
            rows = unit_rows(await embed(part))
        except LabelhubError as error:
            return error
        if len(rows) != len(part):
            return UnusableVectors(f"{len(rows)} vectors came for {len(part)} texts.")
        return rows

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(embed_part(part)) for part in parts]
    found: list[NDArray[np.float32]] = []
    for task in tasks:
        rows = task.result()
        if isinstance(rows, LabelhubError):
            raise rows
        found.extend(rows)
    return found


logger = logging.getLogger(__name__)

#: The maximum number of precedents of a label.
PER_LABEL = 3
#: The maximum number of examples, and of the latest decisions from which they are chosen.
MOST, SCANNED = 5_000, 20_000
#: The maximum length of an example in characters, because precedents are shown whole.
LONGEST = 10_000
#: Examples read by one query.
ROWS = 1_000

Found: TypeAlias = tuple[Precedent, ...]
#: The folded question and label of an example.
Group: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Example:
    """A verified item; ``same`` is equal for equal texts."""

    key: str
    text: str
    group: Group
    same: str


@dataclass(frozen=True, slots=True)
class EmbeddedExamples:
    """The vectors of the examples, and the function that embeds debated texts."""

    index: VectorIndex
    embed: Embed


class PrecedentBook:
    """The examples of a run, the latest decision first; see the module's docstring.

    Attributes:
        note: a remark on the precedents for people; may be empty.
    """

    def __init__(
        self, examples: Sequence[Example] = (), *, labels: Sequence[str] = (), note: str = ""
    ) -> None:
        self.note = note
        self._examples, self._labels = examples, labels
        self._measured: EmbeddedExamples | None = None
        groups: dict[Group, list[int]] = defaultdict(list)
        self._same: dict[str, list[int]] = defaultdict(list)
        for position, example in enumerate(examples):
            groups[example.group].append(position)
            self._same[example.same].append(position)
        self._groups = {group: np.array(found) for group, found in groups.items()}

    @classmethod
    def of_run(cls, run: Run) -> "PrecedentBook":
        """The items verified when ``run`` was created; empty for tasks without precedents."""
        schema = run.schema.parsed
        if not schema.task.one_of_several:
            return cls()
        found = _decisions(run, schema)
        chosen = _choose(found)
        labels = schema.names
        note = ""
        if len(found) > len(chosen):
            note = Phrase(
                "Precedents are chosen from the latest %(number)s verified items.",
                number=len(chosen),
            )
        return cls(list(_read_examples(chosen)), labels=labels, note=note)

    def __len__(self) -> int:
        return len(self._examples)

    def for_item(self, item: Item) -> Found:
        """The precedents of ``item`` by its words, in the order of ``DebateItem.precedents``."""
        return self._nearest(item, self._by_words(item))

    async def for_items(self, items: Sequence[Item]) -> dict[int, Found]:
        """The precedents of each item, by its id: by vectors if there are any, else by words."""
        if self._measured is not None:
            try:
                return await self._by_vectors(items, self._measured)
            except LabelhubError as error:
                self._give_up(error)
        return await asyncio.to_thread(self._found, items, self._by_words)

    async def embed_by(self, embed: Embed, *, model: str) -> None:
        """Compare by the vectors that ``embed`` makes of texts, from here on.

        If that fails (``LabelhubError``, or unusable vectors), words are compared instead, and
        a warning is logged.

        Args:
            embed: a vector for each text; asked for up to a hundred texts at a time, several times
                at once.
            model: the name of the model, under which vectors of examples are cached for the next
            slice of this process.
        """
        if not len(self):
            return
        texts = [example.text[:READ] for example in self._examples]
        try:
            self._measured = EmbeddedExamples(await vector_index(texts, embed, model=model), embed)
        except LabelhubError as error:
            self._give_up(error)

    def _give_up(self, error: LabelhubError) -> None:
        self._measured = None
        logger.warning("Precedents are compared by words, as embeddings failed: %s", error)

    async def _by_vectors(
        self, items: Sequence[Item], measured: EmbeddedExamples
    ) -> dict[int, Found]:
        asked = [item for item in items if item.text.strip()]
        rows = await unit_vectors([item.text[:READ] for item in asked], measured.embed)
        by_item = {item.pk: row for item, row in zip(asked, rows, strict=True)}
        nothing = np.zeros(len(self))

        def similarities(item: Item) -> Floats:
            row = by_item.get(item.pk)
            return nothing if row is None else measured.index.similarities(row)

        return await asyncio.to_thread(self._found, items, similarities)

    def _found(
        self, items: Sequence[Item], similarities: Callable[[Item], Floats]
    ) -> dict[int, Found]:
        return {item.pk: self._nearest(item, similarities(item)) for item in items}

    def _by_words(self, item: Item) -> Floats:
        return self._words.similarities(item.text)

    @cached_property
    def _words(self) -> TfIdfIndex:
        return TfIdfIndex([example.text for example in self._examples])

    def _nearest(self, item: Item, similarities: Floats) -> Found:
        # The item itself has the same text.
        hidden = self._same.get(same_text_key(item.text))
        found = []
        for label, group in self._offered(item):
            free = np.setdiff1d(group, hidden) if hidden else group
            for position, similarity in closest(similarities, free, PER_LABEL):
                example = self._examples[position]
                found.append(Precedent(example.key, label, example.text, similarity))
        return tuple(found)

    def _offered(self, item: Item) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """The item's labels in its spelling and order, with their examples."""
        question = same_text_key(item.question)
        names: dict[str, str] = {}
        for name in self._labels or item.options:
            # Of options that differ only in case the first one counts, as in the schema.
            names.setdefault(fold(name), name)
        for folded, name in names.items():
            if (group := self._groups.get((question, folded))) is not None:
                yield name, group


def _decisions(run: Run, schema: Schema) -> list[tuple[int, Group]]:
    """The verified decisions that the schema offers: id, and question and label."""
    by_author = Label.objects.filter(item=OuterRef("item"), annotator__kind=Kind.AUTHOR)
    golds = verified_as_of(run.project_id, run.created_at).filter(~Exists(by_author))
    rows = golds.values_list("pk", "value", "item__options", "item__question")
    found = []
    for pk, value, options, question in rows[:SCANNED].iterator():
        try:
            label = schema.name_of(schema.normalise(value, options))
        except ValueNotOffered:
            continue
        found.append((pk, (same_text_key(question), fold(label))))
    return found


def _choose(found: Sequence[tuple[int, Group]]) -> dict[int, Group]:
    """At most ``MOST`` of them, the latest; labels get equal shares as far as possible."""
    seen = Counter[Group]()
    share = MOST // len({group for _, group in found} or {""})
    first: list[tuple[int, Group]] = []
    rest: list[tuple[int, Group]] = []
    for pk, group in found:
        (first if seen[group] < share else rest).append((pk, group))
        seen[group] += 1
    kept = {pk for pk, _ in (first + rest)[:MOST]}
    return {pk: group for pk, group in found if pk in kept}


def _read_examples(chosen: Mapping[int, Group]) -> Iterator[Example]:
    """The examples, without texts that are empty, too long or repeated."""
    ids, seen = list(chosen), set()
    golds = Gold.objects.annotate(length=Length("item__text")).filter(length__lte=LONGEST)
    for start in range(0, len(ids), ROWS):
        part = ids[start : start + ROWS]
        rows = golds.filter(pk__in=part).order_by()
        texts = {
            pk: (key, text)
            for pk, key, text in rows.values_list("pk", "item__external_id", "item__text")
        }
        for pk in (pk for pk in part if pk in texts):
            key, text = texts[pk]
            same = same_text_key(text)
            if same and (chosen[pk], same) not in seen:
                seen.add((chosen[pk], same))
                yield Example(key, text, chosen[pk], same)
