"""What somebody has heard, and how far that moves them towards an answer or away from it."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from labelhub.core.llm.offline.lexicon import Lexicon
from labelhub.core.llm.offline.words import stems
from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.parsing.evidence import keep_quotes, quotes
from labelhub.core.llm.types import Call, Reply
from labelhub.core.schema import Schema, Task, Value, value_words

#: What the whole table's voice counts, in the weight of words; and how it grows by the round.
#: Of labels that exclude each other all words are summed up, so it has more to set against.
_TABLE_OF_SEVERAL = 0.4
_TABLE_OF_ONE = 0.48
_INSISTENCE = 0.5
#: A voice that quotes no words of the text counts half.
_UNFOUNDED = 0.5
_DRAFT = 0.03
_REVIEW = 0.05
_SIDE = 0.2
_PRECEDENT = 1.0
_OPINION = 0.08
#: From which likeness on another message says what this one does.
_NEAR = 0.5

_QUOTATION = re.compile(r"\"[^\"]*\"")
_MISSED = "overlooked, overlooks, missed, misses, missing, omitted, omits, add"
_FAULTED = "weak, weakly, unsupported, drop, remove, wrong, mistaken, stretched, faint"


def leaning(call: Call, book: Lexicon) -> dict[str, float]:
    """How far what was heard moves its hearer: answer to weight; empty for whoever heard nothing.

    It can decide what the text leaves open, and nothing that the text says plainly.
    """
    if call.inputs.get("history"):
        return _from_discussion(call, call.inputs["history"])
    if call.inputs.get("answers"):
        return _from_examples(call, book)
    if call.inputs.get("arguments"):
        return _from_trial(call, book)
    if "reviewer" in call.heard:
        return _from_review(call, book)
    return {}


def names_of(value: Value | None, schema: Schema) -> frozenset[str]:
    """The answers that a value names: labels, a scale point's label, an option, a phrase."""
    if isinstance(value, list):
        return frozenset(value)
    if schema.task is Task.ORDINAL:
        return frozenset(label.name for label in schema.labels if label.point == value)
    return frozenset() if value is None else frozenset([value_words(value)])


def named_in(claim: object, call: Call) -> frozenset[str]:
    """The answer that a claim names: a label by its name, a scale point also by its number."""
    said = f"Final Decision: {' '.join(str(claim).split())}"
    return names_of(read_answer(said, call.schema, call.options).value, call.schema)


def _from_discussion(call: Call, history: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The last round's voices, one's own among them, by how many they are and what they quote."""
    rounds = list(history)
    voices = [_read(each["text"], call) for each in rounds[-1]["said"]]
    voices = [voice for voice in voices if voice.ok]
    moved: dict[str, float] = {}
    for voice in voices:
        said = names_of(voice.value, call.schema)
        for name in said:
            _move(moved, [name], 1.0 if voice.evidence.get(name) else _UNFOUNDED)
        if call.schema.task is Task.MULTI:
            _move(moved, set(call.schema.names) - said, -1.0)
    table = _TABLE_OF_SEVERAL if call.schema.task is Task.MULTI else _TABLE_OF_ONE
    pressure = table * (1 + _INSISTENCE * (len(rounds) - 1)) / max(len(voices), 1)
    return {name: count * pressure for name, count in moved.items()}


def _from_trial(call: Call, book: Lexicon) -> dict[str, float]:
    """Sides that quote words which are there, precedents that are alike, earlier opinions."""
    moved: dict[str, float] = {}
    own = _content(call.text, book)
    for side in call.inputs["arguments"]:
        said = str(side["text"])
        backed = keep_quotes(quotes(said, call.text), call.text)
        _move(moved, named_in(side["claim"], call), _SIDE if backed else 0.0)
    for precedent in call.inputs.get("precedents") or ():
        alike = _likeness(own, _content(precedent["text"], book))
        _move(moved, named_in(precedent["label"], call), _PRECEDENT * alike)
    for opinion in call.inputs.get("opinions") or ():
        _move(moved, names_of(_read(opinion["text"], call).value, call.schema), _OPINION)
    return moved


def _from_examples(call: Call, book: Lexicon) -> dict[str, float]:
    """What authors of almost the same words answered; of others nothing."""
    moved: dict[str, float] = {}
    for alike, answer in near_answers(call, book):
        _move(moved, named_in(answer, call), _PRECEDENT * alike)
    return moved


def near_answers(call: Call, book: Lexicon) -> list[tuple[float, str]]:
    """How like each example in ``call.inputs["answers"]`` is, from one half, and its answer."""
    own = _content(call.text, book)
    told = [
        (_likeness(own, _content(str(each["text"]), book)), str(each["answer"]))
        for each in call.inputs["answers"]
    ]
    return [(alike, answer) for alike, answer in told if alike >= _NEAR]


def _from_review(call: Call, book: Lexicon) -> dict[str, float]:
    """One's own draft, and line by line what the review objects to in it or misses."""
    moved: dict[str, float] = {}
    drafter = call.heard.get("drafter")
    _move(moved, names_of(drafter.value if drafter else None, call.schema), _DRAFT)
    spelled = {name: set(stems(name, book.irregular)) for name in call.schema.offered(call.options)}
    missed, faulted = (set(stems(words, book.irregular)) for words in (_MISSED, _FAULTED))
    for line in call.heard["reviewer"].text.splitlines():
        said = set(stems(_QUOTATION.sub(" ", line), book.irregular))
        verdict = _REVIEW if said & missed else -_REVIEW if said & faulted else 0.0
        _move(moved, (name for name, words in spelled.items() if words and words <= said), verdict)
    return moved


def _read(text: str, call: Call) -> Reply:
    return read_answer(str(text), call.schema, call.options, source=call.text)


def _move(moved: dict[str, float], names: Iterable[str], weight: float) -> None:
    for name in names:
        moved[name] = moved.get(name, 0.0) + weight


def _content(text: str, book: Lexicon) -> frozenset[str]:
    return frozenset(w for w in stems(text, book.irregular) if not book.is_in("stop", w))


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Dice's coefficient of two sets of words, in [0, 1]."""
    return 2 * len(one & other) / max(len(one) + len(other), 1)
