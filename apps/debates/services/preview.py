"""What a run would take, before anything is paid: from the prompts of a few real items."""

import math
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.debates.services.asker import call_cost
from apps.debates.services.budget import usd
from apps.debates.services.plans import RunPlan, checked_cast, selected_items
from apps.debates.services.results import Claimed
from apps.debates.services.scripts import Script
from apps.llm.wire import output_cap
from apps.projects.models import Item, Project
from apps.projects.selectors import current_guideline, current_schema
from labelhub.core.debate import protocol
from labelhub.core.debate.outcome import Debate
from labelhub.core.errors import InvalidInput
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import Call, Reply, Status, Usage

SAMPLES = 20
#: What a role is taken to say: about as long as the answers that the prompts ask for.
TYPICAL_ANSWER = "An answer with one short reason and a quotation for each of the labels. " * 5


@dataclass(frozen=True, slots=True)
class Preview:
    """Estimates; costs in nano-USD, None when the price of a model is unknown."""

    items: int
    debates: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost_nanousd: int | None
    worst_nanousd: int | None
    unpriced: tuple[str, ...]
    offline: bool
    samples: int


@dataclass(slots=True)
class _Sums:
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0
    worst: int = 0
    calls: int = 0


class OverBudget(InvalidInput):
    """A run could cost more than its budget, or nobody knows what it costs."""

    code = "over_budget"


def preview(*, project: Project, plan: RunPlan) -> Preview:
    """Calls, tokens and cost of the plan, from up to 20 of its items with real prompts.

    Raises:
        InvalidInput: the plan cannot be run as it is.
    """
    schema, guideline = current_schema(project), current_guideline(project)
    script = Script(
        protocol=protocol(plan.protocol),
        schema=schema.parsed,
        cast=checked_cast(plan, schema),
        salt=project.slug,
        guideline=guideline.text if guideline else "",
        params=plan.params,
    )
    items = selected_items(project, plan)
    count = items.count()
    samples = spread(items, count)
    sums = _Sums()
    for item in samples:
        _rehearse(script, item, sums)
    unpriced = tuple(
        model.name for model in script.models if model.price_in is None or model.price_out is None
    )
    debates = count * plan.replicates
    scale = debates / len(samples) if samples else 0.0
    return Preview(
        items=count,
        debates=debates,
        calls=round(sums.calls * scale),
        tokens_in=round(sums.tokens_in * scale),
        tokens_out=round(sums.tokens_out * scale),
        cost_nanousd=None if unpriced else math.ceil(sums.cost * scale),
        worst_nanousd=None if unpriced else math.ceil(sums.worst * scale),
        unpriced=unpriced,
        offline=script.offline,
        samples=len(samples),
    )


def check_budget(estimate: Preview, budget_nanousd: int) -> None:
    """Refuse a run that could cost more than ``budget_nanousd``.

    Raises:
        OverBudget: or one whose cost nobody can tell.
    """
    if estimate.worst_nanousd is None:
        raise OverBudget(
            f"budget: the price of {', '.join(estimate.unpriced)} is not known, so no budget can "
            "be kept. Enter the model's prices first (0 if it is free)."
        )
    if estimate.worst_nanousd > budget_nanousd:
        raise OverBudget(
            f"budget: the run may cost up to {usd(estimate.worst_nanousd)}, the budget is "
            f"{usd(budget_nanousd)}. Take fewer items, a cheaper model or a larger budget."
        )


def spread(items: QuerySet[Item], count: int) -> list[Item]:
    """Up to 20 items from the whole selection: the first ones alone may be the shortest."""
    step = max(1, count // SAMPLES)
    return [items[place] for place in range(0, count, step)[:SAMPLES]]


def _rehearse(script: Script, item: Item, sums: _Sums) -> None:
    """Drive a debate with made-up answers and count what it would send."""
    debate: Debate = script.start(Claimed(pk=0, replicate=1, item=item).debate_item)
    answer = Reply(text=TYPICAL_ANSWER, status=Status.UNPARSED)
    try:
        calls = next(debate)
        while True:
            for call in calls:
                _count(script, call, sums)
            calls = debate.send([answer] * len(calls))
    except StopIteration:
        return


def _count(script: Script, call: Call, sums: _Sums) -> None:
    model = script.cast[call.role].model
    usage = estimate_usage(call.messages, TYPICAL_ANSWER)
    # What was heard may be as long as the models that said it were allowed to answer.
    longest = sum(
        script.cast[role].model.max_output_tokens for role in call.heard if role in script.cast
    )
    sums.calls += 1
    sums.tokens_in += usage.tokens_in
    sums.tokens_out += usage.tokens_out
    sums.cost += call_cost(model, usage) or 0
    most = Usage(tokens_in=usage.tokens_in + longest, tokens_out=output_cap(model, call))
    sums.worst += call_cost(model, most) or 0
