"""Debates that ended as a test wants, with the ledger as it would be after them."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from apps.debates.models import Debate, Run
from apps.labels.models import Kind, Label
from apps.labels.services import DebateResult, NewLabel, annotator_for, record_debate_results
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema


def run_of(project: Project, **fields: Any) -> Run:
    """A run that is done."""
    return Run.objects.create(
        project=project,
        protocol="single",
        schema=current_schema(project),
        status=Run.Status.DONE,
        **fields,
    )


def debated(
    item: Item,
    value: str | None = "good",
    *,
    run: Run | None = None,
    signals: Mapping[str, Any] | None = None,
    flags: Sequence[str] = (),
    reasons: Sequence[str] = (),
    uncertainty: float = 0.2,
) -> Debate:
    """The item's debate: ended with ``value``, or without a label, and routed for ``reasons``."""
    project = item.project
    run = run or Run.objects.filter(project=project, trial=False).first() or run_of(project)
    label = None if run.trial else _recorded(item, value, run, reasons, uncertainty)
    return Debate.objects.create(
        run=run,
        item=item,
        status=Debate.Status.UNPARSED if value is None else Debate.Status.DONE,
        label=label,
        value=value,
        signals=dict(signals or {}),
        flags=list(flags),
        reasons=list(reasons),
        uncertainty=uncertainty,
        finished_at=timezone.now(),
    )


def _recorded(
    item: Item, value: str | None, run: Run, reasons: Sequence[str], uncertainty: float
) -> Label | None:
    annotator = annotator_for(
        item.project, kind=Kind.LLM, name="Single annotator: Text matcher (demo)", offline=True
    )
    draft = NewLabel(
        item_id=item.pk,
        annotator=annotator,
        schema=run.schema,
        value=value,
        action=Label.Action.PROPOSED,
        rationale="Because the debate said so.",
        evidence={value: [item.text[:6]]} if value else {},
        run_uid=run.uid,
    )
    result = DebateResult(
        item_id=item.pk,
        draft=draft if value else None,
        reasons=reasons,
        uncertainty=uncertainty,
    )
    return record_debate_results(item.project, [result])[0]
