"""What somebody wants to run, checked before anything is written or paid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from apps.debates.services.scripts import Cast, prompt_library
from apps.labels.models import Label
from apps.llm.models import ModelSpec
from apps.projects.models import Item, LabelSchema, Project
from labelhub.core.debate import protocol
from labelhub.core.errors import InvalidInput

MOST_REPLICATES = 20
MOST_TOKENS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A run as asked for.

    Args:
        protocol: its name, see ``labelhub.core.debate.PROTOCOLS``.
        models: role to model; every role of the protocol needs one, no other is known.
        params: settings of the protocol.
        limit: only the first so many of the selected items, in import order.
        item_ids: only these items.
        only_unlabelled: only items that nobody and nothing has labelled yet.
        replicates: how many times each item passes through, independently.
        budget_nanousd: the most the run may cost.
    """

    protocol: str
    models: Mapping[str, ModelSpec]
    params: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    item_ids: Sequence[int] | None = None
    only_unlabelled: bool = False
    replicates: int = 1
    budget_nanousd: int | None = None


def models_for_roles(
    protocol_name: str, given: Mapping[str, ModelSpec], default: ModelSpec
) -> dict[str, ModelSpec]:
    """A model for each role: the one given for it, else ``default``.

    Raises:
        InvalidInput: an unknown protocol, or a role that it does not have.
    """
    roles = protocol(protocol_name).roles
    _refuse_unknown(protocol_name, given)
    return {role: given.get(role, default) for role in roles}


def checked_cast(plan: RunPlan, schema: LabelSchema) -> dict[str, Cast]:
    """Each role of the plan with its model and its prompt as the file is now.

    Raises:
        InvalidInput: an unknown protocol or role, a role without model, a number out of range.
    """
    info = protocol(plan.protocol)
    if schema.task not in info.tasks:
        raise InvalidInput(
            f"The protocol '{plan.protocol}' cannot answer questions of the task '{schema.task}'; "
            f"it can {', '.join(info.tasks)}."
        )
    _refuse_unknown(plan.protocol, plan.models)
    _check_params(plan)
    missing = [role for role in info.roles if role not in plan.models]
    if missing:
        raise InvalidInput(f"model: the role '{missing[0]}' of '{plan.protocol}' has none.")
    if not 1 <= plan.replicates <= MOST_REPLICATES:
        raise InvalidInput(f"replicates: must be between 1 and {MOST_REPLICATES}.")
    if plan.limit is not None and plan.limit < 1:
        raise InvalidInput("limit: must be at least 1.")
    if plan.budget_nanousd is not None and plan.budget_nanousd < 0:
        raise InvalidInput("budget: must not be negative.")
    library = prompt_library()
    return {role: Cast(plan.models[role], library.get(plan.protocol, role)) for role in info.roles}


def selected_items(project: Project, plan: RunPlan) -> QuerySet[Item]:
    """The items the plan is about, in import order."""
    items = Item.objects.filter(project=project).order_by("pk")
    if plan.item_ids is not None:
        items = items.filter(pk__in=plan.item_ids)
    if plan.only_unlabelled:
        items = items.filter(~Exists(Label.objects.filter(item=OuterRef("pk"))))
    return items if plan.limit is None else items[: plan.limit]


def _check_params(plan: RunPlan) -> None:
    """What is asked of a role's model; the cap on its answers decides what a call may cost."""
    for role in protocol(plan.protocol).roles:
        asked = plan.params.get(role, {})
        cap = asked.get("max_tokens", 1) if isinstance(asked, Mapping) else None
        if isinstance(cap, bool) or not isinstance(cap, int) or not 1 <= cap <= MOST_TOKENS:
            raise InvalidInput(
                f"params: {role}.max_tokens must be a whole number from 1 to {MOST_TOKENS:,}."
            )


def _refuse_unknown(protocol_name: str, given: Mapping[str, ModelSpec]) -> None:
    roles = protocol(protocol_name).roles
    unknown = next((role for role in given if role not in roles), None)
    if unknown is not None:
        raise InvalidInput(
            f"model: '{protocol_name}' has no role '{unknown}'; its roles are {', '.join(roles)}."
        )
