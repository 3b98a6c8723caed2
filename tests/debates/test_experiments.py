"""Starting experiments: a trial for each arm on the verified items, and votes beside debates."""

from typing import Any

import pytest

from apps.debates.models import Debate, Experiment, Run
from apps.debates.selectors import experiments as selectors
from apps.debates.services import (
    RunPlan,
    experiment_plans,
    models_for_roles,
    plan_of,
    preview_experiment,
    run_slice,
    start_experiment,
)
from apps.debates.services.experiments import equal_budget_vote, sample_verified_items
from apps.debates.services.preview import UnknownPrice
from apps.labels.models import Label
from apps.llm.models import ModelSpec
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from apps.projects.services import set_schema
from labelhub.core.debate import protocol
from labelhub.core.errors import InvalidInput, NotFound
from labelhub.core.schema import TASKS, schema_from_names
from tests.factories.agreement import decide
from tests.factories.debates import plan_for, project_with_items
from tests.factories.labels import queued_items
from tests.factories.llm import ModelSpecFactory
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Six items, four of them verified."""
    ensure_builtin()
    made = project_with_items(6)
    for item in made.items.order_by("pk")[:4]:
        decide(item, "good")
    return made


def start(project: Project, *plans: RunPlan, **fields: Any) -> Experiment:
    return start_experiment(project=project, actor=None, title="T", arms=plans, **fields)


def with_models(name: str, count: int, **settings: Any) -> RunPlan:
    """A plan whose roles are played by ``count`` models in turn."""
    models = [ModelSpecFactory.create() for _ in range(count)]
    roles = protocol(name).roles(protocol(name).read_settings(settings))
    played = {role: models[position % count] for position, role in enumerate(roles)}
    return RunPlan(protocol=name, models=played, settings=settings)


def test_every_arm_is_a_trial_over_the_verified_items(project: Project) -> None:
    made = start(project, plan_for("single"), plan_for("ecj", replicates=1))
    runs = list(made.runs.order_by("pk"))
    assert [run.protocol for run in runs] == ["single", "ecj", "self_consistency"]
    verified = set(project.items.order_by("pk").values_list("pk", flat=True)[:4])
    for run in runs:
        assert run.trial
        assert not run.reuse_answers
        assert set(run.debates.values_list("item", flat=True)) == verified
    assert runs[2].protocol_settings["samples"] == 3


@pytest.mark.thorough
@pytest.mark.django_db(transaction=True)
def test_nothing_of_an_experiment_enters_the_ledger(project: Project) -> None:
    made = start(project, plan_for("single"), replicates_of(plan_for("ecj"), 2))
    before = Label.objects.count()
    for run in made.runs.all():
        run_slice(run.pk)
    assert Label.objects.count() == before
    assert set(made.runs.values_list("status", flat=True)) == {Run.Status.DONE}
    values = Debate.objects.filter(run__experiment=made).values_list("value", flat=True)
    assert "good" in set(values)


def replicates_of(plan: RunPlan, count: int) -> RunPlan:
    return plan_for(plan.protocol, replicates=count)


def test_gold_of_an_older_version_of_the_labels_does_not_count(project: Project) -> None:
    wider = schema_from_names("single", ["good", "bad", "odd"])
    set_schema(project=project, schema=wider, actor=None)
    with pytest.raises(InvalidInput, match="No item of this project has a verified label"):
        start(project, plan_for("single"))
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(
    ("name", "models", "settings", "vote", "wanted"),
    [
        ("ecj", 1, {}, "self_consistency", {"samples": 3}),
        ("self_refine", 1, {}, "self_consistency", {"samples": 3}),
        ("discussion", 1, {}, "self_consistency", {"samples": 9}),
        ("discussion", 3, {}, "vote", {"annotators": 9}),
        ("discussion", 2, {"annotators": 2, "rounds": 1}, "vote", {"annotators": 4}),
        ("ecj", 2, {}, "vote", {"annotators": 2}),
        ("ecj", 3, {}, "vote", {"annotators": 3}),
        ("courtroom", 1, {"judges": 5}, "self_consistency", {"samples": 8}),
        ("cascade", 1, {"first": "single", "then": "ecj"}, "self_consistency", {"samples": 4}),
        ("discussion", 1, {"annotators": 9, "rounds": 5}, "self_consistency", {"samples": 25}),
    ],
)
def test_a_debate_gets_a_vote_of_as_many_calls(
    name: str, models: int, settings: dict[str, Any], vote: str, wanted: dict[str, Any]
) -> None:
    plan = with_models(name, models, **settings).complete()
    own = list({model.pk: model for model in plan.models.values()}.values())
    found = equal_budget_vote(name, plan.settings, own, TASKS["single"])
    assert found is not None
    assert found[0] == vote
    assert wanted.items() <= found[1].items()


def test_a_fault_in_one_arm_starts_none(project: Project) -> None:
    unpriced = ModelSpecFactory.create(price_in=None)
    costly = RunPlan(
        protocol="single", models={"annotator": unpriced}, budget_nanousd=10**9, limit=2
    )
    with pytest.raises(UnknownPrice):
        start(project, plan_for("single"), costly)
    assert not Experiment.objects.exists()
    with pytest.raises(InvalidInput, match="choose 1 to 20"):
        experiment_plans(project, [])


def test_the_real_run_is_what_was_tried(project: Project) -> None:
    model = ModelSpecFactory.create()
    models = models_for_roles("discussion", {}, [model], {"annotators": 2})
    asked = RunPlan(
        protocol="discussion", models=models, settings={"annotators": 2}, params={}, replicates=3
    )
    made = start(project, asked, equal_budget_votes=False)
    (arm,) = selectors.arms_of(made)
    plan = plan_of(arm.run, arm.roles)
    assert not plan.trial
    assert (plan.item_ids, plan.limit, plan.replicates) == (None, None, 1)
    assert plan.settings["annotators"] == 2
    assert set(plan.models.values()) == {ModelSpec.objects.get(pk=model.pk)}
    assert set(plan.prompts) == {"discussion/annotator"}


def test_experiments_are_found_in_their_project_only(project: Project) -> None:
    made = start(project, plan_for("single"))
    assert selectors.get_experiment(project, made.pk) == made
    with pytest.raises(NotFound):
        selectors.get_experiment(ProjectFactory.create(), made.pk)
    (row,) = selectors.experiment_rows([made])
    assert (row.arms, row.going, row.total, row.finished) == (1, 1, 4, 0)


def test_of_many_items_a_sample_is_drawn_that_stays_the_same(project: Project) -> None:
    for item in queued_items(project, 20):
        decide(item, "bad")
    drawn = sample_verified_items(project, 5)
    assert drawn == sample_verified_items(project, 5) == sorted(drawn)
    assert len(drawn) == 5
    assert drawn != sample_verified_items(project, None)[:5]
    assert set(drawn) < set(sample_verified_items(project, 9))


def test_the_preview_covers_every_arm(project: Project) -> None:
    planned = preview_experiment(project=project, arms=[plan_for("single"), plan_for("ecj")])
    assert [arm.preview.calls for arm in planned] == [4, 12, 12]
    assert {arm.preview.items for arm in planned} == {4}
