"""Answers that a message gives by itself: whoever wrote "I am angry" is not asked how they felt.

Only what is said outright counts: the words of one answer and of no other, not denied; a feeling
that somebody says to have; a number with its unit. What is less plain, the model judges with the
rest of a message's relevance.
"""

import re
from collections.abc import Iterator

from labelhub.core.interview.features import NUMBER, YES_NO, Feature
from labelhub.core.interview.tokens import folded

_WORDS = re.compile(r"\w+|[$€£]")
_MONEY = {"usd": r"\$|usd|dollars?|bucks", "eur": "€|eur|euros?", "gbp": "£|gbp|pounds?|quid"}
_DIGITS = r"\d+(?: \d+)*"
#: Somebody says what they are or feel, up to two words before the feeling.
_FEELS = (
    r"\b(?:i(?: am| m|m| was| feel| felt| got)|feeling|makes? me|made me"
    r"|ich (?:bin|war|fuhle? mich)"
    r"|estoy|estaba|me siento|me sentia|je suis|j etais|je me sens|انا|اشعر)"
    r"(?: (?!not\b|nicht\b|no\b|pas\b)\w+){0,2} "
)
_DENIED = "".join(
    rf"(?<!\b{word} )" for word in ("not", "t", "no", "never", "nicht", "keine", "pas", "sin")
)


def is_stated(feature: Feature, text: str, language: str) -> bool:
    """Whether ``text`` itself says what ``feature`` would ask for.

    Args:
        feature: one without fixed values, or of a yes or no, is never held to be stated.
        text: the message.
        language: of the question about it.
    """
    said = _spoken(text)
    if feature.answer == NUMBER:
        return _counts(said, feature.unit)
    if not feature.values or feature.answer == YES_NO:
        return False
    if _is_about_money(feature) and any(_counts(said, unit) for unit in _MONEY):
        return True
    return sum(_says(said, feature, value, language) for value in feature.values) == 1


def _spoken(text: str) -> str:
    return " ".join(_WORDS.findall(folded(text)))


def _is_about_money(feature: Feature) -> bool:
    """Whether sums are signs of it: whoever names one has said what they would spend."""
    return any(re.fullmatch(words, cue) for cue in feature.cues for words in _MONEY.values())


def _counts(said: str, unit: str) -> bool:
    plain = folded(unit)
    if not plain:
        return False
    words = _MONEY.get(plain, re.escape(plain.removesuffix("s")) + "s?")
    counted = rf"(?<!\w){_DIGITS} ?(?:{words})(?!\w)|(?:{words}) ?{_DIGITS}"
    return re.search(counted, said) is not None


def _says(said: str, feature: Feature, value: str, language: str) -> bool:
    names = "|".join(map(re.escape, _names(feature, value, language)))
    if names and re.search(rf"(?<!\w){_DENIED}(?:{names})(?!\w)", said):
        return True
    meant = filter(None, map(_spoken, feature.meanings.get(value, "").split(",")))
    felt = "|".join(map(re.escape, meant))
    return bool(felt) and re.search(rf"{_FEELS}(?:{felt})(?!\w)", said) is not None


def _names(feature: Feature, value: str, language: str) -> Iterator[str]:
    words = (value.replace("_", " "), feature.own_words(language).get(value, ""))
    return filter(None, map(_spoken, words))
