"""Trying several set-ups on the items whose label is known, before one of them labels the rest.

Each arm is a run of its own: a trial over the same verified items, nothing of which enters the
ledger. Answers are not taken from earlier runs, so that every arm pays what it would cost.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.debates.models import Experiment, Run, RunRole
from apps.debates.selectors.experiments import verified_items
from apps.debates.services.author_examples import AuthorExamples, read_answers
from apps.debates.services.casting import models_for_roles
from apps.debates.services.plans import RunPlan, checked_cast
from apps.debates.services.preview import Preview, preview
from apps.debates.services.runs import start_run
from apps.llm.models import ModelSpec
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import predict, protocol
from labelhub.core.debate.seats import ANNOTATORS
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Task

MOST_ARMS = 20
MOST_ITEMS = 10_000
NO_GOLD = (
    "No item of this project has a verified label under the current labels. Review some items "
    "first, or import items with a gold column: an experiment needs to know what is right."
)


@dataclass(frozen=True, slots=True)
class PlannedArm:
    """An arm before it starts; ``preview`` is what it would take."""

    plan: RunPlan
    preview: Preview


def start_experiment(
    *,
    project: Project,
    actor: User | None,
    title: str,
    arms: Sequence[RunPlan],
    equal_budget_votes: bool = True,
) -> Experiment:
    """Record an experiment with a trial run for each arm, and for each vote of equal budget.

    Of each plan the protocol, models, settings, params, prompts, replicates, budget (for each arm)
    and limit (how many verified items) count. Workers pick the runs up; the caller may send tasks.

    Raises:
        InvalidInput: no arm, too many, no verified item, or an arm cannot be run as it is.
    """
    plans = experiment_plans(project, arms, equal_budget_votes=equal_budget_votes)
    with transaction.atomic():
        made = Experiment.objects.create(project=project, title=title[:100], created_by=actor)
        for plan in plans:
            start_run(project=project, actor=actor, plan=plan, experiment=made)
    return made


def preview_experiment(
    *, project: Project, arms: Sequence[RunPlan], equal_budget_votes: bool = True
) -> list[PlannedArm]:
    """What each arm would take, before anything is paid.

    Raises:
        InvalidInput: as :func:`start_experiment`.
    """
    plans = experiment_plans(project, arms, equal_budget_votes=equal_budget_votes)
    return [PlannedArm(plan, preview(project=project, plan=plan)) for plan in plans]


def experiment_plans(
    project: Project, arms: Sequence[RunPlan], *, equal_budget_votes: bool = True
) -> list[RunPlan]:
    """The complete plans of all arms, each set-up once, over the same verified items.

    Raises:
        InvalidInput: as :func:`start_experiment`.
    """
    schema = current_schema(project)
    plans = [plan.complete() for plan in arms]
    for plan in plans:
        checked_cast(plan, schema)
    if equal_budget_votes:
        votes = [_vote_plan(plan, schema.parsed.task) for plan in plans]
        plans += [vote for vote in votes if vote is not None]
    plans = _each_once(plans)
    if not 1 <= len(plans) <= MOST_ARMS:
        raise InvalidInput(f"arms: choose 1 to {MOST_ARMS} set-ups, not {len(plans)}.")
    predictions = [plan.settings for plan in plans if plan.protocol == predict.NAME]
    item_ids = chosen_items(project, arms[0].limit, predictions)
    if not item_ids:
        raise InvalidInput(NO_GOLD)
    return [
        replace(plan, item_ids=item_ids, limit=None, trial=True, reuse_answers=False)
        for plan in plans
    ]


def chosen_items(
    project: Project, limit: int | None, predictions: Sequence[Mapping[str, Any]] = ()
) -> list[int]:
    """The items to try on; of more than ``limit`` a sample that is always the same.

    Not the first ones: a file is often sorted by something that matters. They are verified items,
    or where authors are to be predicted (``predictions``: the settings of these arms) those that
    authors have answered, with enough examples.

    Raises:
        InvalidInput: no author has enough answers to be predicted from.
    """
    schema = current_schema(project)
    if predictions:
        sources = {chosen[predict.LABELS_BY.name] for chosen in predictions}
        widest = max(predictions, key=lambda chosen: chosen[predict.EXAMPLES.name])
        examples = AuthorExamples(read_answers(project, schema.parsed), sources, widest)
        keys = examples.predictable()
        if not keys:
            raise InvalidInput(examples.missing())
    else:
        gold = verified_items(project, schema)
        keys = dict(gold.values_list("item_id", "item__external_id"))
    most = min(limit or MOST_ITEMS, MOST_ITEMS)
    if len(keys) > most:
        drawn = sorted(keys, key=lambda pk: hashlib.sha256(keys[pk].encode()).digest())[:most]
        return sorted(drawn)
    return sorted(keys)


def equal_budget_vote(
    name: str, settings: Mapping[str, Any], models: Sequence[ModelSpec], task: Task
) -> tuple[str, dict[str, Any]] | None:
    """Protocol and settings of the vote that takes as many calls as a debate does at most.

    Several models vote with each other, as often each; one model votes with itself. None where the
    protocol is no debate, or answers to the question cannot be counted.
    """
    if not protocol(name).debated:
        return None
    calls = protocol(name).calls(settings).most
    several = len(models) > 1
    info = protocol("vote" if several else "self_consistency")
    if task not in info.tasks:
        return None
    wanted = (
        {ANNOTATORS.name: _rounded(calls, len(models))}
        if several
        else {"samples": max(2, min(calls, _most_samples()))}
    )
    return info.name, info.read_settings(wanted)


def setup_key(
    name: str, settings: Mapping[str, Any], models: Mapping[str, ModelSpec]
) -> tuple[Any, ...]:
    """Equal for arms that are the same set-up; ``settings`` complete."""
    played = tuple(sorted((role, model.pk) for role, model in models.items()))
    return name, tuple(sorted(settings.items())), played


def distinct_models(models: Mapping[str, ModelSpec]) -> list[ModelSpec]:
    """The models that play, each once, in the order of their roles."""
    return list({model.pk: model for model in models.values()}.values())


def plan_of(run: Run, roles: Sequence[RunRole]) -> RunPlan:
    """The real run of what ``run`` tried: over all items, with the prompts as they were."""
    return RunPlan(
        protocol=run.protocol,
        models={role.role: role.model for role in roles},
        settings=run.protocol_settings,
        params=run.params,
        prompts={role.prompt.name: role.prompt for role in roles},
    )


def vote_for(
    name: str, settings: Mapping[str, Any], models: Mapping[str, ModelSpec], task: Task
) -> tuple[str, dict[str, Any], dict[str, ModelSpec]] | None:
    """As :func:`equal_budget_vote`, with who plays which of its roles."""
    own = distinct_models(models)
    found = equal_budget_vote(name, settings, own, task)
    if found is None:
        return None
    return (*found, models_for_roles(found[0], {}, own, found[1]))


def _each_once(plans: Sequence[RunPlan]) -> list[RunPlan]:
    """Without the set-ups that are there already."""
    kept: dict[tuple[Any, ...], RunPlan] = {}
    for plan in plans:
        asked = repr(sorted(plan.params.items())), tuple(sorted(plan.prompts))
        kept.setdefault((*setup_key(plan.protocol, plan.settings, plan.models), *asked), plan)
    return list(kept.values())


def _vote_plan(plan: RunPlan, task: Task) -> RunPlan | None:
    found = vote_for(plan.protocol, plan.settings, plan.models, task)
    if found is None:
        return None
    name, settings, models = found
    return replace(plan, protocol=name, settings=settings, models=models, params={}, prompts={})


def _rounded(calls: int, models: int) -> int:
    """Annotators for about ``calls`` calls, each model having as many seats as any other."""
    most = int(ANNOTATORS.high)
    rounds = max(1, min(calls, most) // models)
    return max(int(ANNOTATORS.low), min(rounds * models, most))


def _most_samples() -> int:
    known = protocol("self_consistency").settings
    return int(next(setting.high for setting in known if setting.name == "samples"))
