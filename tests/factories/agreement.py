"""Projects with predictions and gold, written by the real services."""

from collections.abc import Sequence
from typing import Any

from apps.debates.models import Debate, Run
from apps.labels.models import Annotator, Label
from apps.labels.services import DebateResult, NewGold, import_gold, record_debate_results
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from tests.factories.labels import draft, machine, open_item

SAID_NOTHING = object()


def decide(item: Item, value: Any) -> None:
    """Gold that came with an import."""
    import_gold(
        item.project,
        [NewGold(item_id=item.pk, schema=current_schema(item.project), value=value)],
    )


def run_of(project: Project, **fields: Any) -> Run:
    """A run that is over; it has said nothing yet."""
    return Run.objects.create(
        project=project,
        protocol="ecj",
        schema=current_schema(project),
        spec_hash="0" * 64,
        status=Run.Status.DONE,
        **fields,
    )


def propose(
    run: Run, item: Item, value: Any, *, by: Annotator | None = None, **fields: Any
) -> Label | None:
    """What a debate of ``run`` concludes; SAID_NOTHING for one without a usable answer."""
    replicate = fields.get("replicate", 1)
    annotator = by or machine(run.project)
    new_label = None
    if value is not SAID_NOTHING:
        fields = {"action": Label.Action.PROPOSED, "run_uid": run.uid} | fields
        new_label = draft(item, annotator, value, **fields)
    (label,) = record_debate_results(run.project, [DebateResult(item_id=item.pk, draft=new_label)])
    status = Debate.Status.DONE if new_label else Debate.Status.UNPARSED
    Debate.objects.create(run=run, item=item, replicate=replicate, status=status, label=label)
    return label


def compared_project(
    project: Project, pairs: Sequence[tuple[Any, Any]], **fields: Any
) -> tuple[Run, list[Item]]:
    """A run over one new item for each (predicted, gold); gold None leaves an item undecided."""
    run = run_of(project)
    items = []
    for predicted, gold in pairs:
        item = open_item(project, **fields)
        propose(run, item, predicted)
        if gold is not None:
            decide(item, gold)
        items.append(item)
    return run, items
