"""Plans of runs, checked before anything is stored or paid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from apps.debates.services.role_assignment import CastMember, cast_of
from apps.labels.models import Label
from apps.llm.models import ModelSpec, PromptVersion
from apps.llm.services import check_usable
from apps.projects.models import Item, LabelSchema, Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import can_answer, check_task, protocol
from labelhub.core.errors import InvalidInput
from labelhub.core.llm.params import check_params

MOST_REPLICATES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """The plan of a run.

    Args:
        protocol: its name, see ``labelhub.core.debate.PROTOCOLS``.
        models: role → model, for exactly the roles of the protocol.
        settings: of the protocol; missing ones have their default.
        params: role → parameters of its model, such as ``{"judge": {"max_tokens": 300}}``.
        prompts: prompt name → the version to use instead of the file.
        limit: the maximum number of selected items, in import order.
        item_ids: only these items.
        only_unlabelled: only items without any label.
        replicates: the number of independent debates per item.
        budget_nanousd: the maximum cost of the run.
        trial: the run stores no labels in the ledger.
        reuse_answers: reuse answers of earlier runs to equal calls.
    """

    protocol: str
    models: Mapping[str, ModelSpec]
    settings: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, PromptVersion] = field(default_factory=dict)
    limit: int | None = None
    item_ids: Sequence[int] | None = None
    only_unlabelled: bool = False
    replicates: int = 1
    budget_nanousd: int | None = None
    trial: bool = False
    reuse_answers: bool = True

    def complete(self) -> "RunPlan":
        """The plan with all settings of its protocol.

        Raises:
            InvalidInput: an unknown protocol or setting, or a value that cannot be set.
        """
        return replace(self, settings=protocol(self.protocol).read_settings(self.settings))


def warnings_of(plan: RunPlan) -> tuple[str, ...]:
    """Warnings about a plan that is allowed but rarely useful."""
    settings = plan.complete().settings
    found = []
    names = [f"{model.provider_id} {model.name}" for model in plan.models.values()]
    if plan.protocol in {"vote", "discussion"} and len(set(names)) < len(names):
        found.append(
            gettext(
                "annotators with the same model give similar answers; choose a different model for "
                "each, or use self-consistency."
            )
        )
    prefix = "then." if settings.get("then") == "courtroom" else ""
    if "courtroom" in {plan.protocol, settings.get("then")} and not settings.get(
        f"{prefix}precedents"
    ):
        found.append(
            gettext(
                "a courtroom without precedents is often less accurate than a single call "
                "(Courtroom-LLM, table 3); set precedents to 1 or more once some items are "
                "verified."
            )
        )
    return tuple(found)


def checked_cast(plan: RunPlan, schema: LabelSchema) -> dict[str, CastMember]:
    """Each role of a complete plan with its model and its present prompt.

    Raises:
        UnknownModelName: a model that the project may not use.
        InvalidInput: an unknown role, a role without model, a number out of range, a question that
            the protocol cannot answer.
    """
    info = protocol(plan.protocol)
    check_usable(plan.models.values(), schema.project)
    check_task(info, plan.settings, schema.parsed.task)
    _check_params(plan)
    if not 1 <= plan.replicates <= MOST_REPLICATES:
        raise InvalidInput(
            "replicates: must be between 1 and %(most_replicates)s.",
            most_replicates=MOST_REPLICATES,
        )
    if plan.limit is not None and plan.limit < 1:
        raise InvalidInput("limit: must be at least 1.")
    if plan.budget_nanousd is not None and plan.budget_nanousd < 0:
        raise InvalidInput("budget: must not be negative.")
    return cast_of(plan.protocol, plan.settings, plan.models, plan.prompts)


def selected_items(project: Project, plan: RunPlan) -> QuerySet[Item]:
    """The items of the plan, in import order."""
    items = Item.objects.filter(project=project).order_by("pk")
    if plan.item_ids is not None:
        items = items.filter(pk__in=plan.item_ids)
    if plan.only_unlabelled:
        items = items.filter(~Exists(Label.objects.filter(item=OuterRef("pk"))))
    schema = current_schema(project).parsed
    without_options = schema.of_item(()).task
    if without_options is not schema.task and not can_answer(
        protocol(plan.protocol), plan.settings, without_options
    ):
        # An item without options asks for a free word, which votes cannot decide.
        items = items.exclude(options=[])
    return items if plan.limit is None else items[: plan.limit]


def _check_params(plan: RunPlan) -> None:
    """Check the parameters of each role's model."""
    roles = protocol(plan.protocol).roles(plan.settings)
    strange = next((role for role in plan.params if role not in roles), None)
    if strange is not None:
        raise InvalidInput(
            "params: '%(protocol)s' has no role '%(strange)s'; its roles are %(roles)s.",
            protocol=plan.protocol,
            strange=strange,
            roles=", ".join(roles),
        )
    for role, asked in plan.params.items():
        check_params(role, asked)
