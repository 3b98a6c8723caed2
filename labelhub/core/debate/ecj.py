"""Extractor, critic, judge: one proposes, one attacks, one decides, each with its own model.

Source: paper 000, section 3.4: y_ext = E(x), y_crt = C(x, y_ext), y = J(x, y_ext, y_crt); three
dependent calls for all labels together. Without contributions of both others there is no judgement:
the debate then ends without a value.
"""

import math
from collections.abc import Mapping

from labelhub.core.debate.evidence import is_silent, merge_evidence, rationale
from labelhub.core.debate.info import Group, Opinions, ProtocolInfo, fixed_count, role_parts
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Outcome
from labelhub.core.debate.signals import debate_signals, flags
from labelhub.core.llm.types import Reply, Status
from labelhub.core.schema import Schema
from labelhub.core.texts import gettext_noop

ROLES = ("extractor", "critic", "judge")

#: The uncertainty about a label that a role adds if it differs from the judge. The critic counts
#: less, because its prompt tells it to object (paper 000, section 5.3.2).
WEIGHTS = {"extractor": 0.6, "critic": 0.4}


def ecj(item: DebateItem, spec: DebateSpec) -> Debate:
    """Ask the three roles one after the other; the judge's answer is the outcome."""
    heard: dict[str, Reply] = {}
    for role in ROLES:
        params = {"logprobs": True} if role == "judge" else {}
        (reply,) = yield [spec.call(role, heard=dict(heard), params=params)]
        heard[role] = reply
        if is_silent(reply):
            break
    judge = heard.get("judge", Reply(status=Status.UNPARSED))
    differing = _flips(heard, judge, spec.schema) if judge.ok else {}
    # The judge gives no reasons: the rationale is that of the role that it agrees with most. An
    # unreadable reply agrees with nobody.
    apart = {"judge": -1.0} | {role: float(len(names)) for role, names in differing.items()}
    nearest = sorted(heard, key=lambda role: apart.get(role, math.inf))
    return Outcome(
        value=judge.value,
        evidence=merge_evidence(judge.value, spec.schema, list(heard.values())),
        rationale=rationale(*(heard[role] for role in nearest)),
        signals=debate_signals(
            item, heard, first=heard["extractor"].value, decided=judge, labels=spec.schema.names
        )
        | {"flips": differing},
        flags=flags(
            item,
            heard.values(),
            _difference_flags(heard, differing, spec.schema),
            labels=spec.schema.names,
        ),
        uncertainty=_uncertainty(heard, differing, spec.schema) if judge.ok else 1.0,
        failed=any(reply.status is Status.FAILED for reply in heard.values()),
    )


def _flips(heard: Mapping[str, Reply], judge: Reply, schema: Schema) -> dict[str, list[str]]:
    """Earlier role with an answer → the names on which it and the judge differ."""
    decided = schema.names_in(judge.value)
    return {
        role: sorted(schema.names_in(heard[role].value) ^ decided)
        for role in WEIGHTS
        if heard[role].ok
    }


def _difference_flags(
    heard: Mapping[str, Reply], flips: Mapping[str, list[str]], schema: Schema
) -> tuple[str, ...]:
    found = [f"{role}_differs" for role, names in flips.items() if names]
    # Free texts always differ in words, and an unreadable role may have named anything.
    if len(flips) == len(WEIGHTS) and not schema.task.written:
        named = frozenset().union(*(schema.names_in(heard[role].value) for role in WEIGHTS))
        found += ["judge_adds"] if schema.names_in(heard["judge"].value) - named else []
    return tuple(found)


def _uncertainty(
    heard: Mapping[str, Reply], flips: Mapping[str, list[str]], schema: Schema
) -> float:
    """The mean over all given names of the weight of the roles that differ from the judge, in
    [0, 1]. A role with an unreadable answer differs on every name."""
    unread = sum(weight for role, weight in WEIGHTS.items() if role not in flips)
    named = frozenset().union(*(schema.names_in(reply.value) for reply in heard.values()))
    if not named:
        return round(unread, 4)
    differing = sum(WEIGHTS[role] * len(names) for role, names in flips.items())
    return round(min(1.0, unread + differing / len(named)), 4)


INFO = ProtocolInfo(
    name="ecj",
    title=gettext_noop("Extractor, critic, judge (ECJ)"),
    description=gettext_noop(
        "One model proposes labels with quotations, one criticizes them, one decides."
    ),
    group=Group.DEBATE,
    start=ecj,
    parts=role_parts("ecj", *ROLES),
    calls=fixed_count(3, 3),
    opinions=Opinions(
        first=gettext_noop("Extractor"), last=gettext_noop("judge"), signals=("flips",)
    ),
    debated=True,
)
