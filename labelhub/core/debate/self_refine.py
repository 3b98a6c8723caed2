"""Self-refine: a draft, a review of the draft, an improved answer, usually all by one model.

Source: paper 001, section 3.1 and figures 14 to 16. Three dependent calls.
"""

from labelhub.core.debate.evidence import is_silent, merge_evidence, rationale
from labelhub.core.debate.info import Group, Opinions, ProtocolInfo, fixed_count, role_parts
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Outcome
from labelhub.core.debate.signals import debate_signals, flags
from labelhub.core.llm.types import Reply, Status
from labelhub.core.texts import gettext_noop

ROLES = ("drafter", "reviewer", "refiner")
#: The uncertainty of a changed answer: the draft was not sure.
CHANGED_MIND = 0.5


def self_refine(item: DebateItem, spec: DebateSpec) -> Debate:
    """Ask for draft, review and refined answer, each with those before; the last decides."""
    heard: dict[str, Reply] = {}
    for role in ROLES:
        (reply,) = yield [spec.call(role, heard=dict(heard))]
        heard[role] = reply
        if is_silent(reply):
            break
    refined = heard.get("refiner", Reply(status=Status.UNPARSED))
    drafted = heard["drafter"]
    same = refined.value == drafted.value
    changed = refined.ok and drafted.ok and not same
    return Outcome(
        value=refined.value,
        evidence=merge_evidence(refined.value, spec.schema, list(heard.values())),
        rationale=rationale(*reversed(list(heard.values()))),
        signals=debate_signals(
            item, heard, first=drafted.value, decided=refined, labels=spec.schema.names
        ),
        flags=flags(
            item, heard.values(), ("changed_mind",) if changed else (), labels=spec.schema.names
        ),
        uncertainty=(0.0 if same else CHANGED_MIND) if refined.ok else 1.0,
        failed=any(reply.status is Status.FAILED for reply in heard.values()),
    )


INFO = ProtocolInfo(
    name="self_refine",
    title=gettext_noop("Self-refine"),
    description=gettext_noop("One model drafts, reviews its own draft and improves it."),
    group=Group.ONE,
    start=self_refine,
    parts=role_parts("self_refine", *ROLES),
    calls=fixed_count(3, 3),
    opinions=Opinions(first=gettext_noop("Draft"), last=gettext_noop("refined")),
    debated=True,
)
