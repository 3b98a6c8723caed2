"""What a message is: said by a stand-in that is sure of little, so that it rather asks nothing."""

import re
from dataclasses import replace
from functools import lru_cache

from labelhub.core.llm.offline.answers import written
from labelhub.core.llm.offline.decide import decided
from labelhub.core.llm.offline.look import look_at
from labelhub.core.llm.types import Call
from labelhub.core.safety import DANGER, ORDINARY, kind_chances
from labelhub.core.schema import Schema, parse_schema

#: Another kind than "ordinary" is said from this chance on, and "ordinary" only below this chance
#: of danger: what is asked of somebody in danger does more harm than a question that is not asked.
_CERTAIN, _DOUBTFUL = 0.5, 0.2
_UNDER_AGE = re.compile(r"\bi(?:['’]?m| am) (?:only )?(?:1[0-7]|[6-9])\b", re.IGNORECASE)


def judged(call: Call) -> str:
    """The verdict of ``call.inputs["verdicts"]`` (what it is to what it is called) that fits, and
    with an ordinary message the other labels that the text gives a reason for."""
    called = call.inputs["verdicts"]
    kind = "sensitive" if _UNDER_AGE.search(call.text) else _kind(call.text)
    if kind != ORDINARY:
        return written((), called[kind])
    about = _without(call.schema, tuple(called.values()))
    if about is None:
        return written((), called[ORDINARY])
    verdict = decided(look_at(replace(call, schema=about)))
    return written(verdict.lines, ", ".join((called[ORDINARY], *verdict.names)))


def _kind(text: str) -> str:
    chances = dict(kind_chances(text))
    ordinary = chances.pop(ORDINARY)
    other = max(chances, key=lambda name: chances[name])
    if chances[other] >= _CERTAIN:
        return other
    return ORDINARY if ordinary > chances[other] and chances[DANGER] < _DOUBTFUL else "unsure"


@lru_cache(maxsize=256)
def _without(schema: Schema, names: tuple[str, ...]) -> Schema | None:
    """The schema without these labels; None where no label is left."""
    left = [label.to_json() for label in schema.labels if label.name not in names]
    if not left:
        return None
    return parse_schema({"task": "multi", "question": schema.question, "labels": left})
