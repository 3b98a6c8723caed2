"""What a sign is made of, and the words that several kinds of signs share.

A pattern is searched in the text as ``plain.py`` writes it: small letters without accents, blanks
made one. It comes with words that must occur where it can match: to look for those first spares
ordinary texts most of the work. What a pattern skips is bounded in length, so that a long hostile
text is read in time.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from labelhub.core.debate.signs.plain import NAME, SURE_NAME, unaccented

#: A label of the project or an option of the item; where labels that are everyday words too, such
#: as a number or "no", would flag too much, only ``SURE``.
LABEL = f"[{SURE_NAME}{NAME}]"
SURE = SURE_NAME
QUOTE = r"[\"'“”‘’«»*`(\[<_]{0,4}"

READER = (
    r"(?:ais?|llms?|(?:large\s+)?language\s+models?|annotators?|annotation\s+models?|assistants?"
    r"|chatbots?|classifiers?|models?|bots?|judges?|labell?ers?|raters?|graders?)"
)
#: Those whom nobody but an attack speaks to; a model or a judge may be something else.
MACHINE = (
    r"(?:ais?|llms?|(?:large\s+)?language\s+models?|ai\s+(?:model|system|assistant|agent|reader)s?"
    r"|annotators?|chat\s?bots?|classifiers?|chat\s?gpt|gpt(?:-?\d\w?)?|claude|gemini|labell?ers?"
    r"|neural\s+net(?:work)?s?|algorithms?|spam\s+filters?)"
)
MACHINE_WORDS = (
    "ai,ais,llm,llms,language,annotator,annotators,chatbot,chatbots,chat,classifier,classifiers,"
    "neural,algorithm,algorithms,spam,chatgpt,gpt,claude,gemini,labeler,labelers,labeller,labellers"
)
_WORD = re.compile(r"\w+")


class Reading:
    """A text as it is searched, with what is asked of it again and again."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def flat(self) -> str:
        """The text in one line."""
        return " ".join(self.text.split())

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, each once."""
        return frozenset(_WORD.findall(self.text))


@dataclass(frozen=True, slots=True)
class Sign:
    """A pattern, and what must occur where it can match; an empty condition holds.

    One of ``parts`` and one of ``also`` must be in the text, if only within words, and one of
    ``whole`` must be a word of it. ``foreign``: none of ``parts`` is in Latin letters.
    """

    pattern: re.Pattern[str]
    parts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    whole: frozenset[str] = frozenset()
    foreign: bool = False

    def may_be_in(self, reading: Reading) -> bool:
        """Whether it is worth searching ``reading``."""
        if self.foreign and reading.text.isascii():
            return False
        if self.whole and self.whole.isdisjoint(reading.words):
            return False
        return _one_in(self.also, reading.flat) and _one_in(self.parts, reading.flat)


def _one_in(parts: tuple[str, ...], flat: str) -> bool:
    # A loop: this is asked some hundred times for every text.
    for part in parts:
        if part in flat:
            return True
    return not parts


def sign(parts: str, *patterns: str, also: str = "", whole: str = "") -> Sign:
    """A sign; its words are separated by commas."""
    compiled = re.compile(unaccented("|".join(patterns)), re.MULTILINE)
    words = _listed(parts)
    return Sign(
        compiled,
        words,
        _listed(also),
        frozenset(_listed(whole)),
        foreign=bool(words) and not any(map(str.isascii, words)),
    )


def _listed(words: str) -> tuple[str, ...]:
    return tuple(unaccented(words).split(",")) if words else ()
