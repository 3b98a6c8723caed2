"""What is to be told of a trial beside what was said: who argued for what, who was heard first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.debates.conversation.counting import agreement
from labelhub.core.schema import Schema, value_key, value_words

_SECOND_BY = {
    "ranking": "the hearing ranked it second",
    "only other": "there is no other answer",
    "probabilities": "the next likely by the hearing's probabilities",
    "lot": "drawn by lot, as the hearing named no second",
}
_ADVOCATES = ("prosecutor", "defence")


@dataclass(frozen=True, slots=True)
class Case:
    """Words about the trial; empty where there was none."""

    candidates: str = ""
    heard_first: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)
    sides: Mapping[str, str] = field(default_factory=dict)


def case_of(signals: Mapping[str, Any], schema: Schema) -> Case:
    """What the signals tell of the trial."""
    two = signals.get("candidates")
    if not isinstance(two, list) or len(two) != len(_ADVOCATES):
        return Case()
    first, second = (_words(value, schema) for value in two)
    how = _SECOND_BY.get(str(signals.get("second_by")), "")
    first_heard = signals.get("heard_first", "")
    return Case(
        candidates=f"{first} against {second}" + (f" ({how})" if how else ""),
        heard_first=f"the judges read the {first_heard} first" if first_heard else "",
        claims=dict(zip(_ADVOCATES, (first, second), strict=True)),
        sides=_lengths(signals),
    )


def bench_words(settings: Mapping[str, Any]) -> str:
    """How the judges come to a verdict."""
    if settings.get("deliberation") == "parallel":
        return "side by side; the majority decides"
    return "one after the other, each reads those before; the last one decides"


def end_words(values: Sequence[Any], settings: Mapping[str, Any]) -> str:
    """How the judges decided."""
    agreed = agreement(values, rounds=None)
    unanimous = len({None if value is None else value_key(value) for value in values}) == 1
    if unanimous or settings.get("deliberation") == "parallel":
        return agreed
    return f"The last judge decides: {value_words(values[-1])}. {agreed}"


def _words(value: Any, schema: Schema) -> str:
    try:
        return schema.name_of(value)
    except StopIteration:  # a point that this version of the scale does not have
        return value_words(value)


def _lengths(signals: Mapping[str, Any]) -> dict[str, str]:
    said, read = signals.get("lengths"), signals.get("lengths_read")
    if not isinstance(said, list) or not isinstance(read, list):
        return {}
    return {
        role: f"{length:,} characters" + (f", {heard:,} of them read" if heard < length else "")
        for role, length, heard in zip(_ADVOCATES, said, read, strict=False)
    }
