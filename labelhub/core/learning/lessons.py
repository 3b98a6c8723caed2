"""Lessons: the labelled texts that a classifier learns from; nothing here needs scikit-learn."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from labelhub.core.errors import InvalidInput

#: Characters of each part that are read: enough for a label, with bounded time and memory.
READ = 5_000
#: Direction marks, joiners, soft hyphens.
_UNSEEN = frozenset({"Cf", "Cs", "Co", "Cn"})


@dataclass(frozen=True, slots=True)
class Document:
    """One item as the learner reads it."""

    text: str
    question: str = ""
    context: str = ""


def normalise_document(document: Document) -> Document:
    """The document in one spelling: NFKC, case-folded, single blanks, no unseen characters."""
    return Document(
        text=_normalise_text(document.text),
        question=_normalise_text(document.question),
        context=_normalise_text(document.context),
    )


def text_groups(documents: Sequence[Document]) -> list[int]:
    """A number for each document, equal for equal texts: a known text tells nothing about the
    quality on unknown ones."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(document.text, len(numbers)) for document in documents]


def _normalise_text(text: str) -> str:
    if text.isascii():
        return " ".join(text[:READ].lower().split())
    folded = unicodedata.normalize("NFKC", text[:READ])[:READ].casefold()
    seen = "".join(sign for sign in folded if unicodedata.category(sign) not in _UNSEEN)
    return " ".join(seen.split())


#: So many more labels, or this share of those there are, whichever is more.
MORE, SHARE = 20, 10


class Shape(StrEnum):
    """The shape of an answer; labels of a scale are in its order."""

    SINGLE = "single"
    ORDINAL = "ordinal"
    MULTI = "multi"


def labels_until_relearning(known: int) -> int:
    """How many more labels are needed before the classifier learns again."""
    return max(MORE, known // SHARE)


#: Gold labels to begin with, and how often at least two answers must occur among them.
LEAST_GOLD = 20
LEAST_EACH = 5
#: Different texts with gold, that a simulation needs.
LEAST_SIMULATED = 100


class TooLittleGold(InvalidInput):
    """There is too little gold to learn from; ``data`` has ``needed`` and ``have``."""

    code = "too_little_gold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """Texts and their gold. ``targets`` are numbers of labels in ``names``, one per document but
    for ``multi``; ``beside``: the debates' labels of the same texts, or None."""

    shape: Shape
    names: Sequence[str]
    documents: Sequence[Document]
    targets: Sequence[Sequence[int]]
    beside: Sequence[Sequence[int] | None] = field(default_factory=tuple)
    seed: int = 0

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form that :meth:`from_json` reads back."""
        return {
            "shape": str(self.shape),
            "names": list(self.names),
            "documents": [
                [document.text, document.question, document.context] for document in self.documents
            ],
            "targets": [list(numbers) for numbers in self.targets],
            "beside": [None if labels is None else list(labels) for labels in self.beside],
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Self:
        """See :meth:`to_json`."""
        return cls(
            shape=Shape(raw["shape"]),
            names=raw["names"],
            documents=[Document(*parts) for parts in raw["documents"]],
            targets=raw["targets"],
            beside=raw["beside"],
            seed=raw["seed"],
        )


def check_enough(shape: Shape, names: Sequence[str], targets: Sequence[Sequence[int]]) -> None:
    """Check that there is enough gold to learn from.

    Raises:
        TooLittleGold: fewer than ``LEAST_GOLD``, or not two answers often enough.
    """
    have = len(targets)
    if have < LEAST_GOLD:
        raise TooLittleGold(
            f"Learning needs {LEAST_GOLD} gold labels; there are {have}: "
            f"{LEAST_GOLD - have} are missing.",
            data={"needed": LEAST_GOLD, "have": have},
        )
    counts = Counter(number for target in targets for number in target)
    if shape is Shape.MULTI:
        enough = any(LEAST_EACH <= count <= have - LEAST_EACH for count in counts.values())
        what = f"a label that at least {LEAST_EACH} items have and {LEAST_EACH} do not"
    else:
        enough = sum(count >= LEAST_EACH for count in counts.values()) >= 2
        what = f"at least two labels with {LEAST_EACH} items each"
    if not enough:
        counted = ", ".join(f"{names[number]} ({count})" for number, count in counts.most_common(5))
        raise TooLittleGold(
            f"Learning needs {what}; gold has: {counted or 'none of the labels'}.",
            data={"needed": LEAST_EACH, "have": have},
        )
