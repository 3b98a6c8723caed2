"""What a run would take: as many calls as it then makes, at least and at most."""

import pytest

from apps.debates.models import Turn
from apps.debates.services import (
    preview,
    run_slice,
)
from apps.labels.models import Gold
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import LABELLING
from tests.factories.debates import QUICK, Script, plan_for, project_with_items, started_run
from tests.factories.labels import queued_items
from tests.factories.llm import ModelSpecFactory

pytestmark = pytest.mark.django_db(transaction=True)
RANKED = "First choice: good\nSecond choice: bad\nFinal Decision: good"


def verified(project: Project, count: int) -> None:
    for item, label in zip(queued_items(project, count), ["good", "bad"] * count, strict=False):
        schema = current_schema(project)
        Gold.objects.create(item=item, schema=schema, value=label, basis=Gold.Basis.IMPORTED)


@pytest.mark.thorough
@pytest.mark.parametrize("name", LABELLING)
def test_every_protocol_makes_the_calls_that_were_announced(name: str) -> None:
    project, model = project_with_items(6), ModelSpecFactory.create()
    plan = plan_for(name, model)
    estimate = preview(project=project, plan=plan)
    run = started_run(project, name, model=model)
    script = Script(RANKED)
    run_slice(run.pk, pace=QUICK, open_models=script.open)
    assert estimate.calls <= len(script.calls) <= estimate.calls_most
    assert estimate.tokens_in <= estimate.tokens_most[0]
    assert estimate.cost_nanousd is not None
    assert estimate.worst_nanousd is not None
    assert estimate.cost_nanousd <= estimate.worst_nanousd


@pytest.mark.thorough
def test_reasons_for_precedents_are_part_of_it() -> None:
    project, model = project_with_items(0), ModelSpecFactory.create()
    verified(project, 8)
    settings = {"precedents": 2}
    estimate = preview(project=project, plan=plan_for("courtroom", model, settings=settings))
    run = started_run(project, "courtroom", model=model, settings=settings)
    script = Script(RANKED)
    run_slice(run.pk, pace=QUICK, open_models=script.open)
    asked = len(script.calls)
    assert asked > 8 * 6
    assert estimate.calls == asked
    assert Turn.objects.filter(role="reporter", reused=False).count() == asked - 8 * 6
