"""Predictivity: do other people's labels tell as much about an author as the author's own?

An author's answer is predicted from their other answers, shown with the label that one source gave
them: the author, an LLM, the crowd, an expert, or chance. Everything else stays the same, so that
a difference in accuracy is one of the labels (paper 004, section 5.3, Table 3 and Figure 6).
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from labelhub.core.errors import InvalidInput

AUTHOR, CHANCE = "author", "chance"
#: The source of predictions without any example: they are the same whatever the source.
NO_LABELS = "none"
SOURCES = ("llm", "crowd", "expert", AUTHOR, CHANCE)
MOST_EXAMPLES = 5
SEED = 7
#: Of longer rows of answers so many may become examples, or choosing would take for ever.
MOST_NEIGHBOURS = 200


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that its author has answered.

    ``item`` is unique; ``user`` is who wrote it; ``conversation`` is empty where nobody knows it.
    Equal ``question`` of one user means the same question about the same text, asked again.
    ``labels``: source to the labels given, each one of ``options``; of the author just one.
    """

    item: int
    user: str
    conversation: str
    question: str
    options: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]

    @property
    def answer(self) -> str:
        """What the author said."""
        return self.labels[AUTHOR][0]


@dataclass(frozen=True, slots=True)
class Example:
    """Another question of the author, and the label that a source gave."""

    item: int
    label: str


@dataclass(frozen=True, slots=True)
class PredictionTask:
    """Predict ``answer`` of ``item`` from ``shown``; ``examples`` is how many those are."""

    item: int
    user: str
    source: str
    examples: int
    shown: tuple[Example, ...]
    answer: str
    options: tuple[str, ...]


def draw(seed: int, *parts: object) -> int:
    """A whole number below 2**64 that looks random and is always the same for equal parts."""
    text = "\x1f".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])


def label_of(row: Answered, source: str, seed: int = SEED) -> str | None:
    """The one label with which ``source`` stands beside the row; None where it has none.

    Of several annotators the label most of them gave; of equally frequent ones the one that the
    seed draws (as paper 004, Table 2, for annotators who all differ). Chance draws any option.
    """
    if source == CHANCE:
        return row.options[draw(seed, CHANCE, row.item) % len(row.options)]
    counts = Counter(row.labels.get(source, ()))
    if not counts:
        return None
    most = max(counts.values())
    tied = [option for option in row.options if counts[option] == most]
    return tied[draw(seed, source, row.item) % len(tied)] if tied else None


def plan_tasks(
    rows: Sequence[Answered],
    sources: Collection[str],
    examples: Collection[int],
    *,
    seed: int = SEED,
    limit: int | None = None,
) -> list[PredictionTask]:
    """All predictions of a study, in the order of their items; the same for the same input.

    An item's examples are other items of the same user and conversation (of the same user where
    the conversation is unknown) that *every* source has labelled. Which of them are taken depends
    on seed and item alone: for each number the sources differ in labels only, and more examples
    contain the fewer. Neither the same question asked again nor the same example twice is shown.
    Items without any possible example are left out, at zero examples too.

    Args:
        rows: what authors have answered; those whose answer is no option are passed over.
        sources: of ``SOURCES``.
        examples: how many to show, each from 0 to 5; 0 makes one task for all sources.
        seed: decides which examples are taken, what chance says and how ties are broken.
        limit: only so many items, drawn by the seed; None: all.

    Raises:
        InvalidInput: unknown sources or numbers of examples, or none.
    """
    check_choice(sources, examples, limit)
    ordered = [source for source in SOURCES if source in sources]
    chosen = _with_neighbours(rows, ordered, max(1, min(_above_zero(examples), default=1)), seed)
    if limit is not None:
        chosen = sorted(chosen, key=lambda pair: (draw(seed, pair[0].item), pair[0].item))[:limit]
    return [
        task
        for row, near in sorted(chosen, key=lambda pair: pair[0].item)
        for task in _tasks_of(row, near, ordered, sorted(set(examples)), seed)
    ]


def check_choice(
    sources: Collection[str], examples: Collection[int], limit: int | None = None
) -> None:
    """Refuse what no study can be made of.

    Raises:
        InvalidInput: naming the field.
    """
    strange = sorted(set(sources) - set(SOURCES))
    if strange or not sources:
        asked = f"'{strange[0][:40]}' is none of" if strange else "choose at least one of"
        raise InvalidInput(f"sources: {asked} {', '.join(SOURCES)}.")
    if not examples or not all(0 <= number <= MOST_EXAMPLES for number in examples):
        raise InvalidInput(f"examples: numbers from 0 to {MOST_EXAMPLES}, such as 0,1,3,5.")
    if limit is not None and limit < 1:
        raise InvalidInput("limit: must be at least 1.")


def usable(rows: Sequence[Answered]) -> list[Answered]:
    """Rows that say something: two options at least, and the author chose one of them."""
    return [row for row in rows if len(row.options) > 1 and _answer(row) in row.options]


def groups_of(rows: Sequence[Answered]) -> dict[tuple[str, str], list[Answered]]:
    """Rows by user and conversation, and of each user all under the empty conversation."""
    groups: defaultdict[tuple[str, str], list[Answered]] = defaultdict(list)
    for row in rows:
        groups[row.user, ""].append(row)
        if row.conversation:
            groups[row.user, row.conversation].append(row)
    return groups


def _with_neighbours(
    rows: Sequence[Answered], sources: Sequence[str], least: int, seed: int
) -> list[tuple[Answered, list[Answered]]]:
    """Each row with at least ``least`` possible examples, and those in the order of their draw."""
    good = usable(rows)
    pools = {
        key: _pool([row for row in group if _labelled(row, sources)], seed)
        for key, group in groups_of(good).items()
    }
    found = []
    for row in good:
        near = list(_others(row, pools[row.user, row.conversation], seed))
        if len(near) >= least:
            found.append((row, near))
    return found


def _pool(group: list[Answered], seed: int) -> list[Answered]:
    if len(group) <= MOST_NEIGHBOURS:
        return group
    return sorted(group, key=lambda row: draw(seed, "pool", row.item))[:MOST_NEIGHBOURS]


def _others(row: Answered, pool: Sequence[Answered], seed: int) -> Iterator[Answered]:
    told = {row.question}
    for other in sorted(pool, key=lambda each: (draw(seed, row.item, each.item), each.item)):
        if other.item != row.item and other.question not in told:
            told.add(other.question)
            yield other


def _labelled(row: Answered, sources: Sequence[str]) -> bool:
    return all(label_of(row, source) is not None for source in sources)


def _tasks_of(
    row: Answered,
    near: Sequence[Answered],
    sources: Sequence[str],
    examples: Sequence[int],
    seed: int,
) -> Iterator[PredictionTask]:
    for number in examples:
        if number > len(near):
            return
        for source in sources if number else (NO_LABELS,):
            # In the order in which they were asked; which ones is decided by the draw.
            shown = sorted(near[:number], key=lambda each: each.item)
            labels = [(each.item, label_of(each, source, seed)) for each in shown]
            yield PredictionTask(
                item=row.item,
                user=row.user,
                source=source,
                examples=number,
                shown=tuple(Example(item, label) for item, label in labels if label is not None),
                answer=row.answer,
                options=row.options,
            )


def _above_zero(examples: Collection[int]) -> list[int]:
    return [number for number in examples if number]


def _answer(row: Answered) -> str:
    return next(iter(row.labels.get(AUTHOR, ())), "")
