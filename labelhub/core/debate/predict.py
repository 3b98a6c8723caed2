"""Predict: one model predicts an author's answer from other answers of the same author.

Source: paper 004, section 5.3, Table 3 and Figure 6. The examples show the labels of one source:
the author, an LLM, the crowd, an expert, or chance. All else is equal, so a difference in accuracy
comes from the labels. Only for trials: a guess about a person is no label.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from labelhub.core.debate.info import Group, ProtocolInfo, Setting, fixed_count, role_parts
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Untrusted
from labelhub.core.debate.single import ask_once
from labelhub.core.texts import gettext_noop

NAME, ROLE = "predict", "predictor"
NOT_FOR = gettext_noop(
    "a prediction needs exactly one correct answer out of several. Use single annotator."
)
AUTHOR, CHANCE = "author", "chance"
LABELS_BY = Setting(
    name="labels_by",
    main=True,
    titled=True,
    compared=(AUTHOR, "llm", CHANCE),
    title=gettext_noop("Example labels"),
    help=gettext_noop("The annotators whose labels the examples show."),
    default=AUTHOR,
    choices=(AUTHOR, "llm", "crowd", "expert", CHANCE),
)
EXAMPLES = Setting(
    name="examples",
    main=True,
    title=gettext_noop("Number of examples"),
    help=gettext_noop("Other answers of the same author, if possible from the same conversation."),
    default=3,
    low=0,
    high=5,
)
#: The most answers of one author that may become examples.
MOST_NEIGHBOURS = 200


@dataclass(frozen=True, slots=True)
class AuthorAnswer:
    """A question with the answer of its author.

    Attributes:
        item: its id; ``key`` names it within its project.
        author: equal for the answers of one author.
        conversation: empty where it is unknown.
        asked: equal for the same question about the same text.
        options: the possible answers.
        labels: source → its labels, all in ``options``; the author has just one.
    """

    item: int
    key: str
    author: str
    conversation: str
    text: str
    question: str
    asked: str
    options: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]]


def predict(item: DebateItem, spec: DebateSpec) -> Debate:
    """Show the examples of the item and ask once."""
    examples = [
        {name: Untrusted(getattr(example, name)) for name in ("text", "question", "label")}
        for example in item.precedents
    ]
    params = {"logprobs": True}
    return (yield from ask_once(item, spec, params, role=ROLE, inputs={"examples": examples}))


def example_pools(
    answers: Iterable[AuthorAnswer], sources: Collection[str]
) -> dict[tuple[str, str], list[AuthorAnswer]]:
    """(author, conversation) → the answers that may be examples; all of an author under "".

    Every source has labelled them, so that sources differ only in their labels.
    """
    pools: dict[tuple[str, str], list[AuthorAnswer]] = defaultdict(list)
    for answer in answers:
        if all(shown_label(answer, source) is not None for source in sources):
            for conversation in {"", answer.conversation}:
                pools[answer.author, conversation].append(answer)
    return {
        key: sorted(pool, key=lambda answer: _draw("pool", answer.item))[:MOST_NEIGHBOURS]
        for key, pool in pools.items()
    }


def select_examples(
    asked: AuthorAnswer, pool: Iterable[AuthorAnswer], count: int
) -> list[AuthorAnswer]:
    """Up to ``count`` answers of a pool other than ``asked``, in the order of their items.

    The choice depends only on the items, and a larger choice contains the smaller. No question is
    shown twice.
    """
    shown = {asked.asked}
    chosen: list[AuthorAnswer] = []
    for other in sorted(pool, key=lambda other: (_draw(asked.item, other.item), other.item)):
        if len(chosen) < count and other.item != asked.item and other.asked not in shown:
            shown.add(other.asked)
            chosen.append(other)
    return sorted(chosen, key=lambda other: other.item)


def shown_label(answer: AuthorAnswer, source: str) -> str | None:
    """The label of ``source`` for the answer; None if it gave none.

    Of several annotators the most frequent label; a tie is drawn (paper 004, Table 2). Chance draws
    any option.
    """
    if source == CHANCE:
        return _drawn(answer.options, CHANCE, answer.item)
    counts = Counter(answer.labels.get(source, ()))
    most = max(counts.values(), default=0)
    tied = [option for option in answer.options if counts[option] == most]
    return _drawn(tied, source, answer.item) if most and tied else None


def _drawn(options: Sequence[str], *key: object) -> str:
    return options[_draw(*key) % len(options)]


def _draw(*key: object) -> int:
    """A number that looks random and is always the same for the same key."""
    text = "\x1f".join(str(part) for part in key)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])


INFO = ProtocolInfo(
    name=NAME,
    title=gettext_noop("Predict the author"),
    description=gettext_noop(
        "One model predicts an author's answer from the author's other texts, shown "
        "with the labels of one source. Arms compare which labels predict the author best."
    ),
    group=Group.ONE,
    start=predict,
    parts=role_parts(NAME, ROLE),
    calls=fixed_count(1, 1),
    answers=lambda task: task.one_of_several,
    not_for=NOT_FOR,
    settings=(LABELS_BY, EXAMPLES),
    trials_only=True,
)
