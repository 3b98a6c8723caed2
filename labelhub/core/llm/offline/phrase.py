"""Task ``text``: the phrase of the text that answers best."""

import math
from collections import Counter

from labelhub.core.llm.offline.answers import quoted
from labelhub.core.llm.offline.look import Look, Role, Verdict
from labelhub.core.llm.offline.words import Token, stems

_NOTHING = "nothing to say"


def decide_phrase(look: Look) -> Verdict:
    """The most informative clause, judged by rare words and by the question's words."""
    clauses = _by_clause(look)
    if not clauses:
        return Verdict((), look.reading.text.strip()[:80] or _NOTHING)
    common = Counter(token.stem for token in look.reading.tokens)
    asked = frozenset(stems(look.question, look.book.irregular))
    best = max(clauses.values(), key=lambda words: _worth(look, words, common, asked))
    phrase = look.reading.quote(best[0].start, best[0].end)
    return Verdict(_lines(look, phrase), phrase)


def _by_clause(look: Look) -> dict[int, list[Token]]:
    clauses: dict[int, list[Token]] = {}
    for token in look.reading.tokens:
        clauses.setdefault(token.clause, []).append(token)
    return clauses


def _worth(look: Look, words: list[Token], common: Counter[str], asked: frozenset[str]) -> float:
    """Content words count, repeated ones less; a critic wants few idle words among them."""
    told = {word.stem for word in words if not look.book.is_in("stop", word.stem)}
    worth = sum(1 / common[word] for word in told) + 2 * len(told & asked)
    return worth / math.pow(len(words), 0.8 if look.role is Role.CRITIC else 0.35)


def _lines(look: Look, phrase: str) -> tuple[str, ...]:
    if look.role is Role.CRITIC:
        proposed = look.heard.get("extractor")
        same = proposed is None or proposed.value == phrase
        stand = "agree" if same else "disagree"
        return (f'- answer: {stand} - the text says "{phrase}"',)
    return (quoted("answer", (phrase,)),)
