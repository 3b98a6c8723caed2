"""What is read of an item: its text, its own question and what was said before."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

#: How much of each part is read, characters: what decides a label shows early, and time and memory
#: stay bounded whatever is imported.
READ = 5_000
#: Direction marks, joiners, soft hyphens: nobody sees them.
_UNSEEN = frozenset({"Cf", "Cs", "Co", "Cn"})


@dataclass(frozen=True, slots=True)
class Document:
    """One item as the learner reads it."""

    text: str
    question: str = ""
    context: str = ""


def read(document: Document) -> Document:
    """The same in one spelling: NFKC, case folded, blanks as one, what nobody sees left out."""
    return Document(
        text=_plain(document.text),
        question=_plain(document.question),
        context=_plain(document.context),
    )


def groups(documents: Sequence[Document]) -> list[int]:
    """A number for each, equal for those of the same text: a text that a learner has seen tells
    nothing of how it does on texts that it has not."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(document.text, len(numbers)) for document in documents]


def _plain(text: str) -> str:
    if text.isascii():
        return " ".join(text[:READ].lower().split())
    folded = unicodedata.normalize("NFKC", text[:READ])[:READ].casefold()
    seen = "".join(sign for sign in folded if unicodedata.category(sign) not in _UNSEEN)
    return " ".join(seen.split())
