"""Extractor, critic, judge: one proposes, one attacks, one decides, each with its own model.

Source: paper 000, section 3.4: y_ext = E(x), y_crt = C(x, y_ext), y = J(x, y_ext, y_crt); three
dependent calls for all labels together. A judge that has not heard both others is not ECJ: the
debate then ends without a value.
"""

import math
from collections.abc import Mapping

from labelhub.core.debate.evidence import merged_evidence, rationale, silent
from labelhub.core.debate.info import Group, Opinions, ProtocolInfo, always, each_by_prompt
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Outcome
from labelhub.core.debate.signals import debate_signals, flags
from labelhub.core.llm.types import Reply, Status
from labelhub.core.schema import Schema

ROLES = ("extractor", "critic", "judge")

#: How much a role that differs from the judge adds to the uncertainty about a label. The critic
#: counts less: it is told to object (paper 000, section 5.3.2).
WEIGHTS = {"extractor": 0.6, "critic": 0.4}


def ecj(item: DebateItem, spec: DebateSpec) -> Debate:
    """Ask the three roles one after the other; the judge's answer is the outcome."""
    heard: dict[str, Reply] = {}
    for role in ROLES:
        params = {"logprobs": True} if role == "judge" else {}
        (reply,) = yield [spec.call(role, heard=dict(heard), params=params)]
        heard[role] = reply
        if silent(reply):
            break
    judge = heard.get("judge", Reply(status=Status.UNPARSED))
    differing = _flips(heard, judge, spec.schema) if judge.ok else {}
    # The judge gives no reasons: they are those of the role that it agrees with most. With what
    # could not be read nobody agrees.
    apart = {"judge": -1.0} | {role: float(len(names)) for role, names in differing.items()}
    nearest = sorted(heard, key=lambda role: apart.get(role, math.inf))
    return Outcome(
        value=judge.value,
        evidence=merged_evidence(judge.value, spec.schema, list(heard.values())),
        rationale=rationale(*(heard[role] for role in nearest)),
        signals=debate_signals(
            item, heard, first=heard["extractor"].value, decided=judge, labels=spec.schema.names
        )
        | {"flips": differing},
        flags=flags(
            item,
            heard.values(),
            _who_differs(heard, differing, spec.schema),
            labels=spec.schema.names,
        ),
        uncertainty=_uncertainty(heard, differing, spec.schema) if judge.ok else 1.0,
        failed=any(reply.status is Status.FAILED for reply in heard.values()),
    )


def _flips(heard: Mapping[str, Reply], judge: Reply, schema: Schema) -> dict[str, list[str]]:
    """For each earlier role that gave an answer, the names on which the judge thought otherwise."""
    decided = schema.names_in(judge.value)
    return {
        role: sorted(schema.names_in(heard[role].value) ^ decided)
        for role in WEIGHTS
        if heard[role].ok
    }


def _who_differs(
    heard: Mapping[str, Reply], flips: Mapping[str, list[str]], schema: Schema
) -> tuple[str, ...]:
    differs = tuple(f"{role}_differs" for role, names in flips.items() if names)
    return (*differs, *(("judge_adds",) if _judge_adds(heard, flips, schema) else ()))


def _judge_adds(heard: Mapping[str, Reply], flips: Mapping[str, list[str]], schema: Schema) -> bool:
    """Whether the judge names what neither other role brought up; unread roles say nothing.

    In free text everybody has words of their own.
    """
    if len(flips) < len(WEIGHTS) or schema.task.written:
        return False
    brought_up = frozenset().union(*(schema.names_in(heard[role].value) for role in WEIGHTS))
    return bool(schema.names_in(heard["judge"].value) - brought_up)


def _uncertainty(
    heard: Mapping[str, Reply], flips: Mapping[str, list[str]], schema: Schema
) -> float:
    """Mean over the names anybody gave of the weight that differs from the judge; in [0, 1].

    A role whose answer could not be read differs on every name.
    """
    unread = sum(weight for role, weight in WEIGHTS.items() if role not in flips)
    named = frozenset().union(*(schema.names_in(reply.value) for reply in heard.values()))
    if not named:
        return round(unread, 4)
    differing = sum(WEIGHTS[role] * len(names) for role, names in flips.items())
    return round(min(1.0, unread + differing / len(named)), 4)


INFO = ProtocolInfo(
    name="ecj",
    title="Extractor, critic, judge",
    description="One model proposes with quotations, one attacks, one decides.",
    group=Group.DEBATE,
    start=ecj,
    parts=each_by_prompt("ecj", *ROLES),
    calls=always(3, 3),
    opinions=Opinions(first="Extractor", last="judge", signals=("flips",)),
    debated=True,
)
