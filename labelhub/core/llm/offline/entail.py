"""Whether a statement or question is answered by a text, by the words they share."""

from collections.abc import Sequence

from labelhub.core.llm.offline.lexicon import Lexicon
from labelhub.core.llm.offline.words import Reading, stems


def follows(question: str, reading: Reading, book: Lexicon) -> float:
    """Share of the statement's content words that the text says, in [0, 1].

    Without a question the text's last line or sentence is the statement about the rest. A
    negation on one side only counts against it.
    """
    premise, claim = _sides(question, reading, book)
    content = {word for word in claim if not book.is_in("stop", word)}
    if not content:
        return 0.0
    said = frozenset(premise)
    shared = len(content & said) / len(content)
    return shared * (0.6 if _negates(claim, book) != _negates(premise, book) else 1.0)


def _sides(question: str, reading: Reading, book: Lexicon) -> tuple[Sequence[str], Sequence[str]]:
    words = [token.stem for token in reading.tokens]
    if question:
        return words, stems(question, book.irregular)
    last = reading.tokens[-1].sentence if reading.tokens else 0
    cut = sum(token.sentence < last for token in reading.tokens)
    return words[:cut], words[cut:]


def _negates(words: Sequence[str], book: Lexicon) -> bool:
    return any(book.is_in("negators", word) for word in words)
