"""Evidence, rationale and contributions of replies, for all protocols."""

import re
from collections.abc import Sequence

from labelhub.core.llm.parsing.structured import json_as_text
from labelhub.core.llm.types import Reply, Status
from labelhub.core.schema import Schema, Value

LONGEST_RATIONALE = 600
MOST_PHRASES = 10

_DECISION_LINE = re.compile(r"[ \t*_#•-]*final (?:decision|answer)\b", re.IGNORECASE)


def merge_evidence(
    value: Value | None, schema: Schema, replies: Sequence[Reply]
) -> dict[str, tuple[str, ...]]:
    """The phrases in all ``replies`` for the labels of ``value``, in order, each once."""
    merged: dict[str, tuple[str, ...]] = {}
    present = schema.names_in(value)
    for name in (name for reply in replies for name in reply.evidence if name in present):
        phrases = [phrase for reply in replies for phrase in reply.evidence.get(name, ())]
        merged[name] = tuple(dict.fromkeys(phrases))[:MOST_PHRASES]
    return merged


def rationale(*replies: Reply) -> str:
    """The reasons of the first reply with reasons, without its decision line, cut to size."""
    for reply in replies:
        lines = (line.strip() for line in json_as_text(reply.text).splitlines())
        reasons = "\n".join(line for line in lines if line and not _DECISION_LINE.match(line))
        if reasons:
            cut = len(reasons) > LONGEST_RATIONALE
            return reasons[: LONGEST_RATIONALE - 1] + "…" if cut else reasons
    return ""


def contribution(reply: Reply) -> str:
    """The text of ``reply`` for other roles; a refusal has none, because refusals spread."""
    return (
        "" if reply.status in {Status.FAILED, Status.REFUSED} else json_as_text(reply.text).strip()
    )


def is_silent(reply: Reply) -> bool:
    """Whether ``reply`` gives the next role nothing to work with."""
    return not (reply.ok or contribution(reply))
