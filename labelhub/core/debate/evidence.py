"""What the protocols share: which labels a value names, and what speaks for them."""

import re
from collections.abc import Sequence

from labelhub.core.llm.parsing.structured import json_as_text
from labelhub.core.llm.types import Reply, Status
from labelhub.core.schema import Schema, Value

LONGEST_RATIONALE = 600
MOST_PHRASES = 10

_DECISION_LINE = re.compile(r"[ \t*_#•-]*final (?:decision|answer)\b", re.IGNORECASE)


def merged_evidence(
    value: Value | None, schema: Schema, replies: Sequence[Reply]
) -> dict[str, tuple[str, ...]]:
    """The phrases all ``replies`` quote for the labels of ``value``, in order, each once."""
    merged: dict[str, tuple[str, ...]] = {}
    present = schema.names_in(value)
    for name in (name for reply in replies for name in reply.evidence if name in present):
        phrases = [phrase for reply in replies for phrase in reply.evidence.get(name, ())]
        merged[name] = tuple(dict.fromkeys(phrases))[:MOST_PHRASES]
    return merged


def rationale(*replies: Reply) -> str:
    """The reasons of the first reply that gives any, without its decision line, cut to size."""
    for reply in replies:
        lines = (line.strip() for line in json_as_text(reply.text).splitlines())
        reasons = "\n".join(line for line in lines if line and not _DECISION_LINE.match(line))
        if reasons:
            cut = len(reasons) > LONGEST_RATIONALE
            return reasons[: LONGEST_RATIONALE - 1] + "…" if cut else reasons
    return ""


def words(reply: Reply) -> str:
    """What others may hear of ``reply``; a refusal is no contribution, and would be catching."""
    return (
        "" if reply.status in {Status.FAILED, Status.REFUSED} else json_as_text(reply.text).strip()
    )


def silent(reply: Reply) -> bool:
    """Whether ``reply`` leaves the next role nothing to go by."""
    return not (reply.ok or words(reply))
