"""The judges of a trial: the two candidates, the deliberation, and the outcome.

Source: paper 002, section 3.3. In parallel the majority decides; in sequence each judge reads those
before, and the last one decides.
"""

import hashlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from labelhub.core.debate.ballots import Tally, tally
from labelhub.core.debate.evidence import contribution, merge_evidence, rationale
from labelhub.core.debate.outcome import DebateItem, DebateSpec, Outcome, Untrusted
from labelhub.core.debate.panel import lacks_quorum, supporters, vote_flags
from labelhub.core.debate.signals import debate_signals, flags, vote_signals
from labelhub.core.llm.types import Call, Reply, Status
from labelhub.core.schema import Schema, Value


@dataclass(frozen=True, slots=True)
class Candidates:
    """A1 and A2 of paper 002, section 3.1.

    Attributes:
        second_by: the source of the second: ``ranking`` (the hearing named it), ``only other``
            (there are two answers), ``probabilities`` (of the hearing's first token) or ``lot``
            (a hash of the item).
        turned: whether the defence is heard first, drawn by a hash of the item.
    """

    first: Value
    second: Value
    second_by: str
    turned: bool


def choose_candidates(first: Value, hearing: Reply, item: DebateItem, schema: Schema) -> Candidates:
    """The candidates of a hearing whose best answer is ``first``."""
    toss = hashlib.sha256(f"courtroom {item.key}".encode("utf-8", "surrogatepass")).digest()
    others = [value for value in schema.task.values(schema, item.options) if value != first]
    # With a single option both sides argue for it.
    others = others or [first]
    second, how = _choose_second(hearing, others, schema, lot=int.from_bytes(toss[1:9]))
    return Candidates(first, second, how, turned=bool(toss[0] % 2))


def _choose_second(
    hearing: Reply, others: list[Value], schema: Schema, *, lot: int
) -> tuple[Value, str]:
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


JUDGE = "judge"


def ask_judges(
    spec: DebateSpec, case: Mapping[str, Any], params: Mapping[str, Any]
) -> Generator[list[Call], list[Reply], list[Reply]]:
    """Ask the judges about ``case`` and return their replies in order.

    In sequence a failed call ends it, because the next judge could not read all before.
    """
    numbers = range(1, spec.settings["judges"] + 1)
    if _is_parallel(spec):
        return (yield [_judge_call(spec, number, case, params, ()) for number in numbers])
    replies: list[Reply] = []
    for number in numbers:
        replies += yield [_judge_call(spec, number, case, params, replies)]
        if replies[-1].status is Status.FAILED:
            break
    return replies


def trial_outcome(
    item: DebateItem,
    spec: DebateSpec,
    two: Candidates,
    heard: Mapping[str, Reply],
    judges: Sequence[Reply],
) -> Outcome:
    """The outcome of the verdicts on the candidates ``two``, after the replies ``heard``."""
    count = tally([judge.value for judge in judges], spec.schema)
    if _is_parallel(spec):
        failed, decided = lacks_quorum(judges), count.value
        agreeing, ended = supporters(count, judges, spec.schema), vote_flags(count)
    else:
        failed, decided = judges[-1].status is Status.FAILED, judges[-1].value
        agreeing, ended = [judges[-1]], ()
    value = None if failed else decided
    replies = {
        **heard,
        **{f"{JUDGE}/{number}": judge for number, judge in enumerate(judges, start=1)},
    }
    alone = None if _is_parallel(spec) and len(judges) > 1 else judges[-1]
    verdicts = [judge.value for judge in judges]
    given = [value for value in verdicts if value is not None]
    changes = sum(before != after for before, after in pairwise(given))
    return Outcome(
        value=value,
        evidence=merge_evidence(value, spec.schema, agreeing),
        rationale=rationale(*agreeing, *judges),
        signals=debate_signals(
            item, replies, first=two.first, decided=alone, labels=spec.schema.names
        )
        | vote_signals(count)
        | {"verdicts": verdicts, "judge_changes": changes},
        flags=flags(
            item,
            replies.values(),
            (*ended, *_verdict_flags(two, value, count)),
            labels=spec.schema.names,
        ),
        uncertainty=_uncertainty(two, value, count),
        failed=failed,
    )


def _is_parallel(spec: DebateSpec) -> bool:
    return bool(spec.settings["deliberation"] == "parallel")


def _judge_call(
    spec: DebateSpec,
    number: int,
    case: Mapping[str, Any],
    params: Mapping[str, Any],
    before: Sequence[Reply],
) -> Call:
    opinions = [
        {"number": place, "text": Untrusted(contribution(reply))}
        for place, reply in enumerate(before, start=1)
        if contribution(reply)
    ]
    return spec.call(
        JUDGE,
        step=f"{JUDGE}/{number}",
        inputs={**case, "opinions": opinions},
        params={**params, "logprobs": True},
        sample=number,
    )


def _verdict_flags(two: Candidates, value: Value | None, count: Tally) -> tuple[str, ...]:
    differ = () if count.unanimous else ("judges_differ",)
    overturned = () if value in (two.first, None) else ("overturned",)
    outside = () if value in (two.first, two.second, None) else ("outside",)
    return (*differ, *overturned, *outside)


def _uncertainty(two: Candidates, value: Value | None, count: Tally) -> float:
    """Up to half for judges that differ, half for a verdict other than the first opinion."""
    if value is None:
        return 1.0
    return round(0.5 * (1.0 - count.d_rate) + (0.5 if value != two.first else 0.0), 4)
