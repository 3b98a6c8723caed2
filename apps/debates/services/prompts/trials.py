"""Trying a variant on a few items, beside the present prompt on the same ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db import transaction

from apps.accounts.models import User
from apps.debates.models import PromptVariant, Run
from apps.debates.services.experiments import chosen_items
from apps.debates.services.plans import RunPlan
from apps.debates.services.preview import Preview, preview
from apps.debates.services.prompts.library import protocol_of
from apps.debates.services.prompts.variants import still_fits
from apps.debates.services.runs import start_run
from apps.llm.models import ModelSpec
from apps.projects.models import Item, Project
from labelhub.core.errors import Conflict, InvalidInput

TRIAL_ITEMS = 10


def trial_roles(variant: PromptVariant) -> tuple[str, tuple[str, ...]]:
    """The protocol that a trial of the variant plays, and its roles."""
    info, settings = protocol_of(variant.name)
    return info.name, info.roles(settings)


def trial_plans(
    project: Project, variant: PromptVariant, models: Mapping[str, ModelSpec]
) -> tuple[RunPlan, RunPlan]:
    """The run with the variant, and the same with the present prompt.

    Raises:
        InvalidInput: the project has no items.
        Conflict: the variant is retired, or was written for other inputs than there are now.
    """
    if variant.retired:
        raise Conflict("This variant is retired: it cannot be tried any more.")
    if not still_fits(variant):
        raise Conflict(
            "The prompt has other inputs now than when this variant was written. Make a new "
            "variant of the present text."
        )
    item_ids = trial_items(project)
    if not item_ids:
        raise InvalidInput("The project has no items yet: import some first.")
    info, settings = protocol_of(variant.name)
    plan = RunPlan(
        protocol=info.name,
        models=models,
        settings=settings,
        prompts={variant.name: variant.version},
        item_ids=item_ids,
        trial=True,
    )
    return plan, replace(plan, prompts={})


def trial_items(project: Project) -> list[int]:
    """Ten items at most, those with a verified label before others, from all over the project."""
    gold = chosen_items(project, TRIAL_ITEMS)
    others = Item.objects.filter(project=project).exclude(pk__in=gold).order_by("pk")
    return gold + _spread(list(others.values_list("pk", flat=True)), TRIAL_ITEMS - len(gold))


def preview_trial(project: Project, plans: Sequence[RunPlan]) -> list[Preview]:
    """What each of the runs would take, in the order of the plans.

    Raises:
        InvalidInput: they cannot be run as they are.
    """
    return [preview(project=project, plan=plan) for plan in plans]


def start_trial(
    *, project: Project, actor: User | None, plans: tuple[RunPlan, RunPlan]
) -> tuple[Run, Run]:
    """Record both runs; workers pick them up.

    Raises:
        InvalidInput: they cannot be run as they are.
    """
    with transaction.atomic():
        tried, beside = (start_run(project=project, actor=actor, plan=plan) for plan in plans)
    return tried, beside


def _spread(pks: list[int], wanted: int) -> list[int]:
    """As many as are wanted, at even distances."""
    if wanted <= 0 or not pks:
        return []
    step = max(1, len(pks) // wanted)
    return pks[::step][:wanted]
