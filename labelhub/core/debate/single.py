"""One model, one call: the baseline for every debate.

Source: paper 001, section 3.1, vanilla prompting: the label and nothing else. Quotations for people
to check may follow the label, where they can no longer change it.
"""

from collections.abc import Mapping
from typing import Any

from labelhub.core.debate.evidence import merge_evidence, rationale
from labelhub.core.debate.info import Group, Part, ProtocolInfo, Setting, Settings, fixed_count
from labelhub.core.debate.outcome import Debate, DebateItem, DebateSpec, Outcome
from labelhub.core.debate.signals import debate_signals, flags, margin
from labelhub.core.llm.types import Status
from labelhub.core.texts import gettext_noop

ROLE = "annotator"
AFTER_LABEL = "after the label"
QUOTES = Setting(
    name="quotes",
    title=gettext_noop("Quotations"),
    help=gettext_noop(
        "The published baseline gives only the label. Quotations show reviewers the evidence; "
        "the model gives them after the label, so that they cannot change it."
    ),
    default="none",
    choices=("none", AFTER_LABEL),
)


def single(item: DebateItem, spec: DebateSpec) -> Debate:
    """Ask the annotator once and take its answer."""
    return (yield from ask_once(item, spec, {"logprobs": True}))


def ask_once(
    item: DebateItem,
    spec: DebateSpec,
    params: Mapping[str, Any],
    *,
    role: str = ROLE,
    inputs: Mapping[str, Any] | None = None,
) -> Debate:
    """A debate of one call, with parameters for the model and more inputs of its prompt."""
    (annotator,) = yield [spec.call(role, params=params, inputs=inputs)]
    # A single answer without probabilities says nothing about its certainty.
    lead = margin(annotator)
    uncertainty = None if lead is None else round(1.0 - lead, 4)
    if not annotator.ok:
        uncertainty = 1.0
    return Outcome(
        value=annotator.value,
        evidence=merge_evidence(annotator.value, spec.schema, [annotator]),
        rationale=rationale(annotator),
        signals=debate_signals(
            item,
            {role: annotator},
            first=annotator.value,
            decided=annotator,
            labels=spec.schema.names,
        ),
        flags=flags(item, [annotator], labels=spec.schema.names),
        uncertainty=uncertainty,
        failed=annotator.status is Status.FAILED,
    )


def _parts(settings: Settings) -> tuple[Part, ...]:
    quoting = settings[QUOTES.name] == AFTER_LABEL
    return (Part(ROLE, f"single/{'quoting_' if quoting else ''}annotator"),)


INFO = ProtocolInfo(
    name="single",
    title=gettext_noop("Single annotator"),
    description=gettext_noop(
        "One model labels each text in one call: the baseline for every debate."
    ),
    group=Group.ONE,
    start=single,
    parts=_parts,
    calls=fixed_count(1, 1),
    settings=(QUOTES,),
)
