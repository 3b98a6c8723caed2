"""The two answers of a trial: what the hearing holds for best, and what for second best."""

import hashlib
from dataclasses import dataclass

from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm.types import Reply
from labelhub.core.schema import Schema, Value


@dataclass(frozen=True, slots=True)
class Candidates:
    """A1 and A2 of paper 002, section 3.1.

    ``second_by`` says how the second was had: ``ranking`` (the hearing named it), ``only other``
    (there are two answers), ``probabilities`` (of the hearing's first token) or ``lot`` (nothing
    told, so the item's own hash did). ``turned`` is the item's toss of who is heard first.
    """

    first: Value
    second: Value
    second_by: str
    turned: bool


def candidates(first: Value, hearing: Reply, item: DebateItem, schema: Schema) -> Candidates:
    """The candidates of a hearing whose best answer is ``first``."""
    toss = hashlib.sha256(f"courtroom {item.key}".encode("utf-8", "surrogatepass")).digest()
    # One option alone leaves nothing to argue about: both sides argue for it.
    others = [value for value in schema.task.values(schema, item.options) if value != first] or [
        first
    ]
    second, how = _second(hearing, others, schema, lot=int.from_bytes(toss[1:9]))
    return Candidates(first, second, how, turned=bool(toss[0] % 2))


def _second(hearing: Reply, others: list[Value], schema: Schema, *, lot: int) -> tuple[Value, str]:
    ranked = next((value for value in hearing.ranking if value in others), None)
    if ranked is not None:
        return ranked, "ranking"
    if len(others) == 1:
        return others[0], "only other"
    likely = hearing.probabilities
    known = [value for value in others if schema.name_of(value) in likely]
    if known:
        return max(known, key=lambda value: likely[schema.name_of(value)]), "probabilities"
    return others[lot % len(others)], "lot"
