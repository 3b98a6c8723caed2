"""The offline model as a shop's assistant: it notices a few words and asks one thing at a time.

It is no language model, and says so in its first reply. What it notices and says is in
``chat.toml``; the same conversation always gets the same reply.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).with_name("chat.toml")
_DEFAULT = "en"
_KANA = re.compile("[\u3041-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
#: What may lead to somebody: e-mail and web addresses, numbers of seven digits and more.
_CONTACT = re.compile(r"[^\s@]{0,64}@\S*|\bhttps?:\S+|\bwww\.\S+|\+?(?:\d[\s()./\-–]{0,3}){6,40}\d")
_AMOUNT = r"\d{1,3}(?:[ .,'\u00a0\u202f]\d{3})?(?:[.,]\d{1,2})?(?!\d)|\d{4,5}(?!\d)"
#: Characters of a text that are read: what somebody wants stands at its beginning.
_READ = 2000


@dataclass(frozen=True, slots=True)
class Tongue:
    """How one language is noticed and spoken. ``products`` are patterns with the word to say;
    of ``limits`` the first that is found counts."""

    marks: frozenset[str]
    products: tuple[tuple[re.Pattern[str], str], ...]
    soon: re.Pattern[str]
    limits: tuple[re.Pattern[str], ...]
    says: Mapping[str, str]
    questions: Mapping[str, str]
    space: str


def chat_reply(history: Sequence[tuple[str, str]], instructions: str) -> str:
    """The next reply in a conversation; plain text of a few sentences.

    Args:
        history: (role, text), oldest first; all roles but ``assistant`` are the author's.
        instructions: those of the site; they tell the language where the author's words do not.
    """
    texts = [_without_contacts(text) for role, text in history if role != "assistant"] or [""]
    replies = [text.strip() for role, text in history if role == "assistant"]
    tongue = _tongues()[_language(texts, instructions)]
    new = _noticed(texts[-1], tongue)
    known = set().union(*(_noticed(text, tongue) for text in texts))
    first = not _has_spoken(replies)
    parts = [tongue.says["what_i_am"]] if first else []
    parts += [tongue.says[what].format(word) for what, word in new.items()]
    if not new and re.search("[?？]", texts[-1]):
        parts.append(tongue.says["cannot"])
    elif not new and not first:
        parts.append(tongue.says["noted"])
    return tongue.space.join([*parts, _question(tongue, known, replies)])


def _noticed(text: str, tongue: Tongue) -> dict[str, str]:
    """What a text tells, in the words to say it back with."""
    noticed = {}
    found = [
        (match.start(), -match.end(), said)
        for word, said in tongue.products
        if (match := word.search(text))
    ]
    if found:
        noticed["product"] = min(found)[2]  # the first, and the longest of those
    if limit := next(filter(None, (each.search(text) for each in tongue.limits)), None):
        noticed["limit"] = " ".join(next(filter(None, limit.groups())).split())
    if tongue.soon.search(text):
        noticed["soon"] = ""
    return noticed


def _question(tongue: Tongue, known: set[str], replies: Sequence[str]) -> str:
    """The first that is neither answered nor asked; the last one, if all are."""
    for about, question in tongue.questions.items():
        if about not in known and not any(reply.endswith(question) for reply in replies):
            return question
    return tongue.questions["more"]


def _has_spoken(replies: Sequence[str]) -> bool:
    """Whether one of the replies is ours: each ends with one of our questions."""
    ours = tuple(each for tongue in _tongues().values() for each in tongue.questions.values())
    return any(reply.endswith(ours) for reply in replies)


def _without_contacts(text: str) -> str:
    return _CONTACT.sub(" … ", text[:_READ])


def _language(texts: Sequence[str], instructions: str) -> str:
    """That of the last text, of all of them, or of the instructions: the first that tells one."""
    for text, least in ((texts[-1], 2), (" ".join(texts), 1), (instructions, 2)):
        if _KANA.search(text):
            return "ja"
        words = [word.replace("’", "'") for word in _WORD.findall(text.casefold())]
        hits = {
            language: sum(word in tongue.marks for word in words)
            for language, tongue in _tongues().items()
        }
        best = max(hits, key=lambda language: hits[language])
        if hits[best] >= least:
            return best
    return _DEFAULT


@lru_cache(maxsize=1)
def _tongues() -> dict[str, Tongue]:
    """The languages, read on first use; the default first."""
    data = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))
    currencies = _either(_listed(data.pop("currencies")))
    return {language: _tongue(raw, currencies) for language, raw in data.items()}


def _tongue(raw: Mapping[str, Any], currencies: str) -> Tongue:
    return Tongue(
        marks=frozenset(_listed(raw["marks"])),
        products=tuple(_product(each, raw) for each in _listed(raw["products"])),
        soon=re.compile(_whole(_either(_listed(raw["soon"])), raw), re.IGNORECASE),
        limits=_limits(_either(_listed(raw["before"])), currencies),
        says=raw["says"],
        questions=raw["questions"],
        space=" " if raw.get("spaced", True) else "",
    )


def _product(written: str, raw: Mapping[str, Any]) -> tuple[re.Pattern[str], str]:
    words = written.split("|")
    ends = _either(_listed(raw["endings"]))
    alone = _either([word for word in words if not word.startswith("*")])
    last = _either([word[1:] for word in words if word.startswith("*")])
    found = "|".join(filter(None, (alone and _whole(f"(?:{alone})(?:{ends})?", raw), last)))
    tail = rf"(?:{ends})?(?!\w)" if last else ""
    return re.compile(f"(?:{found}){tail}", re.IGNORECASE), words[0].removeprefix("*")


def _whole(words: str, raw: Mapping[str, Any]) -> str:
    return rf"(?<!\w)(?:{words})(?!\w)" if raw.get("spaced", True) else words


def _limits(before: str, currencies: str) -> tuple[re.Pattern[str], ...]:
    priced = (
        rf"(?<![\d.,])((?:{_AMOUNT})\s?(?:{currencies})(?![a-z]))"
        rf"|((?:{currencies})\s?(?:{_AMOUNT}))"
    )
    # Without a currency a small number with a word after it may count anything.
    bare = rf"(?:{before})\s((?=\d{{3}}|\d\d\s*(?:$|[.,;!?](?!\d)))(?:{_AMOUNT}))(?!\s?[:@\d])"
    return re.compile(priced, re.IGNORECASE), re.compile(bare, re.IGNORECASE)


def _either(words: Sequence[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def _listed(words: str) -> list[str]:
    return [word.strip() for word in words.split(",") if word.strip()]
