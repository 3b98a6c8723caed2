"""Task ``text``: the phrase of the text that answers best."""

import math
from collections import Counter

from labelhub.core.llm.offline.answers import quoted
from labelhub.core.llm.offline.look import Look, Verdict
from labelhub.core.llm.offline.roles import Role
from labelhub.core.llm.offline.words import Token, stems

_NOTHING = "nothing to say"


def decide_phrase(look: Look) -> Verdict:
    """The most informative clause, judged by rare words and by the question's words."""
    phrases = ranked_phrases(look)
    if not look.reading.tokens:
        return Verdict((), (phrases[0],))
    return Verdict(_lines(look, phrases[0]), (phrases[0],))


def ranked_phrases(look: Look) -> list[str]:
    """The phrases of the text, the most informative first; at least one, whatever the text."""
    clauses = _by_clause(look)
    if not clauses:
        return [look.reading.text.strip()[:80] or _NOTHING]
    common = Counter(token.stem for token in look.reading.tokens)
    asked = frozenset(stems(look.question, look.book.irregular))
    worths = {
        look.reading.quote(words[0].start, words[0].end): _worth(look, words, common, asked)
        for words in clauses.values()
    }
    return sorted(worths, key=lambda phrase: -worths[phrase] - look.lean.get(phrase, 0.0))


def _by_clause(look: Look) -> dict[int, list[Token]]:
    clauses: dict[int, list[Token]] = {}
    for token in look.reading.tokens:
        clauses.setdefault(token.clause, []).append(token)
    return clauses


def _worth(look: Look, words: list[Token], common: Counter[str], asked: frozenset[str]) -> float:
    """Content words count, repeated ones less; a critic wants few idle words among them."""
    told = {word.stem for word in words if not look.book.is_in("stop", word.stem)}
    worth = sum(1 / common[word] for word in told) + 2 * len(told & asked)
    brevity = 0.8 if look.role is Role.CRITIC else 0.35 + 2 * look.temper.bar
    return worth / math.pow(len(words), brevity)


def _lines(look: Look, phrase: str) -> tuple[str, ...]:
    if look.role is Role.CRITIC:
        proposed = look.heard.get("extractor")
        same = proposed is None or proposed.value == phrase
        stand = "agree" if same else "disagree"
        return (f'- answer: {stand} - the text says "{phrase}"',)
    return (quoted("answer", (phrase,)),)
