"""Comparison of several set-ups on verified items, before one of them labels the others.

Each arm is a run of its own: a trial over the same verified items that stores no labels. It reuses
no answers of earlier runs, so that its cost is real.
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
from apps.debates.services.plans import RunPlan, checked_cast
from apps.debates.services.preview import Preview, preview
from apps.debates.services.role_assignment import models_for_roles
from apps.debates.services.runs import start_run
from apps.llm.models import ModelSpec
from apps.projects.changes import comparable_versions
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import predict, protocol
from labelhub.core.debate.panel import ANNOTATORS
from labelhub.core.debate.predict import AuthorAnswer
from labelhub.core.errors import InvalidInput
from labelhub.core.phrases import Phrase
from labelhub.core.schema import LabelType

MOST_ARMS = 20
MOST_ITEMS = 10_000
NO_GOLD = Phrase(
    "No item of this project has a verified label under the current labels. Review some items "
    "first, or import items with a gold column: an experiment compares answers with gold."
)


@dataclass(frozen=True, slots=True)
class PlannedArm:
    """An arm before its start, with the estimate of its cost."""

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
    """The estimate for each arm before its start.

    Raises:
        InvalidInput: as :func:`start_experiment`.
    """
    plans, answers = _plan_arms(project, arms, equal_budget_votes=equal_budget_votes)
    sources = _sources(plans)
    planned = []
    for plan in plans:
        examples = AuthorExamples(answers, sources, plan.settings) if _predicts(plan) else None
        planned.append(PlannedArm(plan, preview(project=project, plan=plan, examples=examples)))
    return planned


def experiment_plans(
    project: Project, arms: Sequence[RunPlan], *, equal_budget_votes: bool = True
) -> list[RunPlan]:
    """The complete plans of all arms, each set-up once, over the same verified items.

    Raises:
        InvalidInput: as :func:`start_experiment`.
    """
    return _plan_arms(project, arms, equal_budget_votes=equal_budget_votes)[0]


def _plan_arms(
    project: Project, arms: Sequence[RunPlan], *, equal_budget_votes: bool
) -> tuple[list[RunPlan], list[AuthorAnswer]]:
    """The plans, and the answers of authors if an arm predicts them."""
    schema = current_schema(project)
    plans = [plan.complete() for plan in arms]
    for plan in plans:
        checked_cast(plan, schema)
    if equal_budget_votes:
        plans += [vote for plan in plans if (vote := _vote_plan(plan, schema.parsed.task))]
    plans = _without_duplicates(plans)
    if not 1 <= len(plans) <= MOST_ARMS:
        raise InvalidInput(
            "arms: choose 1 to %(most)s set-ups, not %(plans)s.", most=MOST_ARMS, plans=len(plans)
        )
    answers = read_answers(project, schema.parsed) if any(map(_predicts, plans)) else []
    keys = _predictable(plans, answers) if any(map(_predicts, plans)) else _verified(project)
    if not keys:
        raise InvalidInput(NO_GOLD)
    item_ids = _sample(keys, arms[0].limit)
    trials = [
        replace(plan, item_ids=item_ids, limit=None, trial=True, reuse_answers=False)
        for plan in plans
    ]
    return trials, answers


def sample_verified_items(project: Project, limit: int | None) -> list[int]:
    """The verified items for the trial; at most ``limit``, by a fixed random sample."""
    return _sample(_verified(project), limit)


def _verified(project: Project) -> dict[int, str]:
    """Id and external id of the verified items."""
    gold = verified_items(project, comparable_versions(current_schema(project)))
    return dict(gold.values_list("item_id", "item__external_id"))


def _predicts(plan: RunPlan) -> bool:
    return plan.protocol == predict.NAME


def _sources(plans: Sequence[RunPlan]) -> set[str]:
    return {plan.settings[predict.LABELS_BY.name] for plan in plans if _predicts(plan)}


def _predictable(plans: Sequence[RunPlan], answers: Sequence[AuthorAnswer]) -> dict[int, str]:
    """Id and external id of the items that authors have answered, with enough examples.

    Raises:
        InvalidInput: there is none.
    """
    settings = [plan.settings for plan in plans if _predicts(plan)]
    widest = max(settings, key=lambda chosen: chosen[predict.EXAMPLES.name])
    examples = AuthorExamples(answers, _sources(plans), widest)
    keys = examples.predictable()
    if not keys:
        raise InvalidInput(examples.missing())
    return keys


def _sample(keys: Mapping[int, str], limit: int | None) -> list[int]:
    # Not the first ones, because files are often sorted by something relevant.
    most = min(limit or MOST_ITEMS, MOST_ITEMS)
    if len(keys) > most:
        drawn = sorted(keys, key=lambda pk: hashlib.sha256(keys[pk].encode()).digest())[:most]
        return sorted(drawn)
    return sorted(keys)


def equal_budget_vote(
    name: str, settings: Mapping[str, Any], models: Sequence[ModelSpec], task: LabelType
) -> tuple[str, dict[str, Any]] | None:
    """Protocol and settings of a vote with the maximum number of calls of a debate.

    Several models vote equally often; one model votes with itself. None if the protocol is no
    debate, or if answers to the question cannot be counted.
    """
    if not protocol(name).debated:
        return None
    calls = protocol(name).calls(settings).most
    several = len(models) > 1
    info = protocol("vote" if several else "self_consistency")
    if not info.answers(task):
        return None
    samples = [setting.high for setting in info.settings if setting.name == "samples"]
    wanted = (
        {ANNOTATORS.name: _annotator_count(calls, len(models))}
        if several
        else {"samples": max(2, min(calls, int(samples[0])))}
    )
    return info.name, info.read_settings(wanted)


def setup_key(
    name: str, settings: Mapping[str, Any], models: Mapping[str, ModelSpec]
) -> tuple[Any, ...]:
    """Equal for arms that are the same set-up; ``settings`` complete."""
    played = tuple(sorted((role, model.pk) for role, model in models.items()))
    return name, tuple(sorted(settings.items())), played


def distinct_models(models: Mapping[str, ModelSpec]) -> list[ModelSpec]:
    """The models of the run, each once, in the order of their roles."""
    return list({model.pk: model for model in models.values()}.values())


def plan_of(run: Run, roles: Sequence[RunRole]) -> RunPlan:
    """The plan to run the set-up of the trial ``run`` on all items, with the same prompts."""
    return RunPlan(
        protocol=run.protocol,
        models={role.role: role.model for role in roles},
        settings=run.protocol_settings,
        params=run.params,
        prompts={role.prompt.name: role.prompt for role in roles},
    )


def vote_for(
    name: str, settings: Mapping[str, Any], models: Mapping[str, ModelSpec], task: LabelType
) -> tuple[str, dict[str, Any], dict[str, ModelSpec]] | None:
    """As :func:`equal_budget_vote`, with the models of the roles."""
    own = distinct_models(models)
    found = equal_budget_vote(name, settings, own, task)
    if found is None:
        return None
    return (*found, models_for_roles(found[0], {}, own, found[1]))


def _without_duplicates(plans: Sequence[RunPlan]) -> list[RunPlan]:
    """The plans with each set-up once."""
    kept: dict[tuple[Any, ...], RunPlan] = {}
    for plan in plans:
        asked = repr(sorted(plan.params.items())), tuple(sorted(plan.prompts))
        kept.setdefault((*setup_key(plan.protocol, plan.settings, plan.models), *asked), plan)
    return list(kept.values())


def _vote_plan(plan: RunPlan, task: LabelType) -> RunPlan | None:
    found = vote_for(plan.protocol, plan.settings, plan.models, task)
    if found is None:
        return None
    name, settings, models = found
    return replace(plan, protocol=name, settings=settings, models=models, params={}, prompts={})


def _annotator_count(calls: int, models: int) -> int:
    """The number of annotators for about ``calls`` calls, equal for each model."""
    most = int(ANNOTATORS.high)
    rounds = max(1, min(calls, most) // models)
    return max(int(ANNOTATORS.low), min(rounds * models, most))
