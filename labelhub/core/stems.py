"""Rough stems of English words, so that their forms count as one word."""

import re
from functools import lru_cache

_LONGEST = 40
_VOWEL = re.compile(r"[aeiouy]")


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A rough English stem of a word, case-folded; words of other scripts lose no ending."""
    word = word.casefold().replace("’", "'")
    if len(word) > _LONGEST:
        return word[:_LONGEST]
    word = word.removesuffix("'s")
    if len(word) <= 3 or not word.isascii():
        return word
    word = _without_ending(_singular(word))
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_ending(word: str) -> str:
    if word.endswith("ied"):
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        left = word.removesuffix(ending)
        if left != word and len(left) >= 3 and _VOWEL.search(left):
            doubled = left[-1] == left[-2] and left[-1] not in "lsz"
            return left[:-1] if doubled else left
    return word
