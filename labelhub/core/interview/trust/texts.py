"""Whether somebody sends the same thing again and again, with small changes."""

import re
from collections.abc import Sequence

#: How many texts are compared, and how much of each, characters: what is alike shows early.
MOST_TEXTS, READ = 50, 2_000
#: Near-duplicates share at least this part of their runs of three words (Jaccard index).
ALIKE = 0.6
RUN = 3
#: A message of fewer words says nothing that is worth a question.
LEAST_WORDS = 3

#: Scripts without blanks: each sign counts as a word. Marks stay with the letters before them.
_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_DENSE}]|(?:(?![{_DENSE}])[\w\u0300-\u036f\u0900-\u0dff])+")


def near_duplicates(texts: Sequence[str]) -> float:
    """The share of ``texts`` that are nearly the same as another of them; 0 for fewer than two.

    Exact Jaccard index of runs of three words. At most the last 50 texts are compared.
    """
    runs = [_runs(text) for text in texts[-MOST_TEXTS:]]
    twins = {
        at
        for first in range(len(runs))
        for second in range(first + 1, len(runs))
        if _alike(runs[first], runs[second])
        for at in (first, second)
    }
    return len(twins) / len(runs) if runs else 0.0


def elicits(text: str, earlier: Sequence[str]) -> bool:
    """Whether ``text`` looks sent only to be asked a question: next to nothing, or said before.

    Args:
        text: the message right before a survey.
        earlier: the author's messages before it; the last 50 count.
    """
    if len(_words(text)) < LEAST_WORDS:
        return True
    runs = _runs(text)
    return any(_alike(runs, _runs(other)) for other in earlier[-MOST_TEXTS:])


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:READ].casefold())


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _words(text)
    count = max(1, len(words) - RUN + 1)
    # A text without any word is told by its signs: "???" is like "???".
    return frozenset(tuple(words[at : at + RUN]) or (text[:READ].strip(),) for at in range(count))


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    fewer, more = sorted((len(one), len(other)))
    if fewer < ALIKE * more:
        return False
    shared = len(one & other)
    return shared >= ALIKE * (fewer + more - shared)
