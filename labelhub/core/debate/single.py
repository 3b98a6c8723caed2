"""One model, one call: the baseline that every debate has to beat."""

from labelhub.core.debate.evidence import merged_evidence, problems, rationale, role_signals
from labelhub.core.debate.injection import item_flags
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Outcome
from labelhub.core.llm.types import Status

ROLES = ("annotator",)


def single(item: DebateItem, spec: DebateSpec) -> Debate:
    """Ask the annotator once and take its answer."""
    (annotator,) = yield [spec.call("annotator")]
    flags = item_flags(item)
    replies = {"annotator": annotator}
    return Outcome(
        value=annotator.value if annotator.ok else None,
        evidence=merged_evidence(annotator.value, spec.schema, [annotator]),
        rationale=rationale(annotator),
        signals=role_signals(replies, flags),
        reasons=problems(replies) + (("injection",) if flags else ()),
        uncertainty=0.0 if annotator.ok else 1.0,
        failed=annotator.status is Status.FAILED,
    )
