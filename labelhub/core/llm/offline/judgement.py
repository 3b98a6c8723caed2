"""What a message is: said by a stand-in that is sure of little, so that it rather asks nothing."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from labelhub.core.llm.offline.answers import written
from labelhub.core.llm.offline.decide import decided
from labelhub.core.llm.offline.look import look_at
from labelhub.core.llm.types import Call
from labelhub.core.schema import Schema, parse_schema

_SOURCE = Path(__file__).with_name("judgement.toml")
#: Fewer words than these, courtesies left out, are small talk; characters where none are set apart.
_FEWEST_WORDS, _FEWEST_DENSE = 2, 5
_WORD = re.compile(r"[^\W\d_]+")
_DENSE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_UNDER_AGE = re.compile(r"\bi(?:['’]?m| am) (?:only )?(?:1[0-7]|[6-9])\b", re.IGNORECASE)


def judged(call: Call) -> str:
    """The verdict of ``call.inputs["verdicts"]`` (what it is to what it is called) that fits, and
    with an ordinary message the other labels that the text gives a reason for."""
    called = call.inputs["verdicts"]
    words = _WORD.findall(call.text.casefold())
    if _speaks_of("sensitive", call.text, words) or _UNDER_AGE.search(call.text):
        return written((), called["sensitive"])
    if _speaks_of("troubled", call.text, words):
        return written((), called["unsure"])
    if _speaks_of("spam", call.text, words):
        return written((), called["spam"])
    if _is_small_talk(call.text, words):
        return written((), called["small_talk"])
    about = _without(call.schema, tuple(called.values()))
    if about is None:
        return written((), called["ordinary"])
    verdict = decided(look_at(replace(call, schema=about)))
    return written(verdict.lines, ", ".join((called["ordinary"], *verdict.names)))


def _speaks_of(kind: str, text: str, words: list[str]) -> bool:
    known = _known()
    begins = tuple(known[kind])
    return any(word.startswith(begins) or word in known[f"{kind}_words"] for word in words) or any(
        each in text for each in known[f"{kind}_dense"]
    )


def _is_small_talk(text: str, words: list[str]) -> bool:
    for polite in _known()["courtesies_dense"]:
        text = text.replace(polite, "")
    told = [each for each in words if each not in _known()["courtesies"] and not _DENSE.match(each)]
    return len(told) < _FEWEST_WORDS and len(_DENSE.findall(text)) < _FEWEST_DENSE


@lru_cache(maxsize=1)
def _known() -> Mapping[str, frozenset[str]]:
    raw = tomllib.loads(_SOURCE.read_text(encoding="utf-8"))
    return {name: frozenset(words.split()) for name, words in raw.items()}


@lru_cache(maxsize=256)
def _without(schema: Schema, names: tuple[str, ...]) -> Schema | None:
    """The schema without these labels; None where no label is left."""
    left = [label.to_json() for label in schema.labels if label.name not in names]
    if not left:
        return None
    return parse_schema({"task": "multi", "question": schema.question, "labels": left})
