"""Advertising and fraud: a small linear score over many weak features, weighed by hand.

The features of words stand in ``spam.toml``; those of form, which need digits and signs, here. No
single feature is enough: a message is spam if several speak for it and few against.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import log2
from pathlib import Path

from labelhub.core.interview.screening.phrases import PhraseTable, entries, phrase_table

_SOURCE = Path(__file__).with_name("spam.toml")
#: From this score on a message is spam; longer ones have more chances to collect features.
ENOUGH = 1.65
LENGTH = 200
PER_DOUBLING = 0.7
#: A feature said in several ways counts this much more than in one.
REPEATED = 1.4
_FORMS: tuple[tuple[str, float, re.Pattern[str]], ...] = (
    (
        "link",
        1.0,
        re.compile(
            r"https?:/|\bwww\.|\b[\w-]{2,40}\.(?:com|net|org|biz|info|co|uk|ru|xyz|top|shop|online"
            r"|site|club|de|fr|es|it|nl|jp|tv|me|ly|io|app|link|click|store|live|vip|bet|cc|pro"
            r"|example)\b",
            re.IGNORECASE,
        ),
    ),
    # Short addresses hide where they lead.
    (
        "hidden_link",
        0.8,
        re.compile(r"\b(?:t|wa|m)\.me/|\b(?:bit\.ly|tinyurl|goo\.gl)\b", re.IGNORECASE),
    ),
    ("phone_number", 1.0, re.compile(r"(?<![\d.,-])\+?(?:\d[ -]?){9,16}")),
    (
        "short_code",
        1.3,
        re.compile(
            r"\b(?:to|txt|text|call|on|at|no|2|send|sms|an|al|au|naar|number|ring)[ :.]{1,3}"
            r"\d{4,6}(?![\d,]|[ -]\d{3}|\.\d| ?(?:€|\$|£|eur|usd|pounds|dollars|euros|people))",
            re.IGNORECASE,
        ),
    ),
    (
        "rate",
        1.4,
        re.compile(
            r"\b\d{2,3} ?(?:p|ppm|pence)\b|\d ?p ?/ ?\w|p(?:/|er ?)(?:min|msg|sms|text|wk|tone)"
            r"|[£€$]\d+[.,]?\d* ?(?:/|per|p/|a |pm)\s?\w|\d(?:gbp|£|eur)?/(?:min|msg|wk|week|sms)"
            r"|\d ?(?:[€$£]|euros?|eur|dollars?|usd) (?:al|par|pro|per|each|cada) ?[a-zíä]{3}"
            r"|p/?msg|\bstd\b|\d(?:ct|cent)/(?:sms|min)",
            re.IGNORECASE,
        ),
    ),
    (
        "sum",
        0.8,
        re.compile(
            r"[£€$¥]\s?\d{3,}|[£€$]\s?\d{1,3}[,.]\d{3}|\d{3,}\s?(?:£|€|\$|pounds?|cash|gbp|euro|usd)"
            r"|\d{3,}\s?(?:万円|円|元)",
            re.IGNORECASE,
        ),
    ),
    ("percent", 0.7, re.compile(r"\d{2,3}\s?%")),
    (
        "of_age",
        1.2,
        re.compile(r"\b1[68] ?\+|\(1[68]\)|\bage ?1[68]|\b1[68] ?y(?:ea)?rs", re.IGNORECASE),
    ),
    ("exclaimed", 0.4, re.compile(r"[!！]")),
    ("exclaimed_loudly", 0.4, re.compile(r"[!！][^!！]{0,60}[!！]")),
    ("shouted", 0.6, re.compile(r"\b[A-Z]{4,}\b[^\n]{0,80}\b[A-Z]{3,}\b")),
    (
        "abbreviated",
        0.6,
        re.compile(
            r"\b(?:ur|u|r|yr|wk|wkly|b4|gr8|txt|pls|msg|w/?c)\b"
            r"|(?<!for )(?<!of )\b[24] (?=[a-z]{1,8}\b)(?!adults|people|persons|nights|days|weeks"
            r"|hours|kids|rooms|times|of|and|or|more)",
            re.IGNORECASE,
        ),
    ),
    (
        "keyword",
        1.1,
        re.compile(r"(?i:\b(?:reply|replying|text|txt|send|get))\s+[\"']?[A-Z0-9]{3,}"),
    ),
    ("premium_number", 0.9, re.compile(r"\b0[89]\d{2,}|\b8\d{4}\b")),
    ("postcode", 0.7, re.compile(r"\b[A-Z]{1,2}\d{1,2}[A-Z]? ?\d[A-Z]{2}\b")),
    (
        "glued",
        0.5,
        re.compile(r"[a-z]{3}[A-Z]{2}|\d{4}[A-Za-z]{2}|[A-Za-z]{3}\d{3}|[.!?,][A-Z][a-z]{2}"),
    ),
    ("quiz", 0.9, re.compile(r"\bA ?[-:.)=].{1,60}\bB ?[-:.)=]")),
    ("question", -0.8, re.compile(r"[?？]\s*$")),
    ("bait", 0.8, re.compile("[💰🎁🎉🔥💵💸🤑🎰🚀👇👉🏆💊🔞✅⭐]")),
)


def spam_score(text: str, tokens: Sequence[str]) -> tuple[float, list[str]]:
    """How much speaks for spam, less what speaks against it, and what speaks the loudest for it.

    The score is compared with ``limit_for`` the same text.
    """
    weights, table = _features()
    counts = Counter(name for _, _, name in table.found(tokens))
    spoken = {name: weights[name] * (REPEATED if counts[name] > 1 else 1) for name in counts}
    spoken |= {name: weight for name, weight, pattern in _FORMS if pattern.search(text)}
    loudest = sorted(spoken, key=lambda name: -spoken[name])
    return sum(spoken.values()), [name for name in loudest if spoken[name] > 0]


def limit_for(text: str) -> float:
    """The score from which on ``text`` is spam."""
    return ENOUGH + PER_DOUBLING * max(0.0, log2(len(text) / LENGTH)) if text else ENOUGH


@lru_cache(maxsize=1)
def _features() -> tuple[dict[str, float], PhraseTable[str]]:
    raw = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))
    weights = {name: float(feature["weight"]) for name, feature in raw.items()}
    phrases = (
        (entry, name) for name, feature in raw.items() for entry in entries(feature["words"])
    )
    return weights, phrase_table(phrases)
