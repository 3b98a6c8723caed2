"""The estimate of a run's calls, tokens, cost and time, from the prompts of a few items."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Avg, QuerySet

from apps.debates.models import Run, Turn
from apps.debates.services.driving.budget import call_cost
from apps.debates.services.driving.results import ClaimedDebate
from apps.debates.services.driving.retrieval import Book, book_of
from apps.debates.services.plans import RunPlan, checked_cast, selected_items
from apps.debates.services.precedents import PrecedentBook
from apps.debates.services.role_assignment import CastMember
from apps.debates.services.run_spec import RunSpec, salt_of
from apps.llm.models import ModelSpec
from apps.llm.wire import output_cap
from apps.projects.models import Item, Project
from apps.projects.selectors import current_guideline, current_schema
from labelhub.core.debate import protocol
from labelhub.core.debate.outcome import Debate
from labelhub.core.errors import InvalidInput
from labelhub.core.llm.prices import estimate_tokens, estimate_usage
from labelhub.core.llm.types import AnswerField, Call, Message, Output, Reply, Usage

SAMPLES = 20
#: A typical answer, about as long as the answers that the prompts request.
TYPICAL_ANSWER = "An answer with one short reason and a quotation for each of the labels. " * 5
#: A typical answer of only the label.
LABEL_ALONE, SHORT_ANSWER = (AnswerField.LABEL,), "Final Decision: one name, another name"
#: The number of a model's last calls from which the time is estimated.
RECENT_CALLS = 200


@dataclass(frozen=True, slots=True)
class Preview:
    """Estimates; costs in nano-USD, None if the price of a model is unknown.

    ``calls``, tokens, ``cost_nanousd`` and ``seconds`` are for the shortest debates;
    ``calls_most`` and ``tokens_most`` (in and out) for the longest debates; ``worst_nanousd``
    also for the longest answers. ``seconds`` is None without earlier calls to the models.
    """

    items: int
    debates: int
    calls: int
    calls_most: int
    tokens_in: int
    tokens_out: int
    tokens_most: tuple[int, int]
    cost_nanousd: int | None
    worst_nanousd: int | None
    seconds: float | None
    unpriced: tuple[str, ...]
    offline: bool
    samples: int


@dataclass(slots=True)
class _Sums:
    """Sums over the calls of some rehearsals."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0
    worst: int = 0
    calls: int = 0
    by_model: dict[int, int] = field(default_factory=dict)
    asked_once: set[tuple[Message, ...]] = field(default_factory=set)

    def times(self, scale: float) -> "_Sums":
        """The sums times a factor, rounded up."""
        return _Sums(
            tokens_in=math.ceil(self.tokens_in * scale),
            tokens_out=math.ceil(self.tokens_out * scale),
            cost=math.ceil(self.cost * scale),
            worst=math.ceil(self.worst * scale),
            calls=round(self.calls * scale),
            by_model={model: round(n * scale) for model, n in self.by_model.items()},
        )

    def plus(self, other: "_Sums") -> "_Sums":
        """The sum of both."""
        return _Sums(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cost + other.cost,
            self.worst + other.worst,
            self.calls + other.calls,
            {
                model: self.by_model.get(model, 0) + other.by_model.get(model, 0)
                for model in self.by_model.keys() | other.by_model.keys()
            },
        )


@dataclass(slots=True)
class _Rehearsal:
    """The calls of debates on the samples: for each debate, and once for many debates."""

    per_debate: _Sums = field(default_factory=_Sums)
    once: _Sums = field(default_factory=_Sums)

    def whole(self, scale: float, most_once: int) -> _Sums:
        """The sums for ``scale`` times as many debates, with at most ``most_once`` of the calls
        that serve many debates."""
        share = min(scale, most_once / self.once.calls) if self.once.calls else 0.0
        return self.per_debate.times(scale).plus(self.once.times(share))


class UnknownPrice(InvalidInput):
    """The cost of a run with a budget is unknown."""

    code = "unknown_price"


def preview(*, project: Project, plan: RunPlan, examples: Book | None = None) -> Preview:
    """Calls, tokens, cost and time of the plan, from up to 20 of its items with real prompts.

    ``examples``: the examples for the items, if the caller has them.

    Raises:
        InvalidInput: the plan cannot be run as it is.
    """
    plan = plan.complete()
    run_spec = _run_spec(project, plan)
    items = selected_items(project, plan)
    count = items.count()
    samples = sample_items(items, count)
    run = Run(
        project=project,
        schema=current_schema(project),
        protocol=plan.protocol,
        protocol_settings=dict(plan.settings),
    )
    book = examples or book_of(run, plan.settings) or PrecedentBook()
    shortest, longest = _Rehearsal(), _Rehearsal()
    for item in samples:
        claimed = ClaimedDebate(pk=0, replicate=1, item=item, precedents=book.for_item(item))
        _rehearse(run_spec, claimed, shortest, agreeing=True)
        _rehearse(run_spec, claimed, longest, agreeing=False)
    unpriced = unpriced_models(run_spec.models)
    debates = count * plan.replicates
    scale = debates / len(samples) if samples else 0.0
    short, long = shortest.whole(scale, len(book)), longest.whole(scale, len(book))
    return Preview(
        items=count,
        debates=debates,
        calls=short.calls,
        calls_most=max(short.calls, long.calls),
        tokens_in=short.tokens_in,
        tokens_out=short.tokens_out,
        tokens_most=(
            max(short.tokens_in, long.tokens_in),
            max(short.tokens_out, long.tokens_out),
        ),
        cost_nanousd=None if unpriced else short.cost,
        worst_nanousd=None if unpriced else max(short.worst, long.worst),
        seconds=_estimate_seconds(run_spec, short),
        unpriced=unpriced,
        offline=run_spec.offline,
        samples=len(samples),
    )


def check_prices(models: Iterable[ModelSpec]) -> None:
    """Refuse a budget if the cost of a call is unknown.

    Raises:
        UnknownPrice: naming the models without a price.
    """
    unpriced = unpriced_models(models)
    if unpriced:
        raise UnknownPrice(
            "budget: the price of %(unpriced)s is not known, so no budget can be kept. Enter "
            "the model's prices first (0 if it is free).",
            unpriced=", ".join(unpriced),
        )


def unpriced_models(models: Iterable[ModelSpec]) -> tuple[str, ...]:
    """The names of the models without a known price, each once."""
    names = [model.title for model in models if not model.prices_known]
    return tuple(dict.fromkeys(names))


def sample_items(items: QuerySet[Item], count: int) -> list[Item]:
    """Up to 20 items from the whole selection, because the first ones may be the shortest."""
    step = max(1, count // SAMPLES)
    return [items[place] for place in range(0, count, step)[:SAMPLES]]


def _run_spec(project: Project, plan: RunPlan) -> RunSpec:
    schema, guideline = current_schema(project), current_guideline(project)
    cast: dict[str, CastMember] = checked_cast(plan, schema)
    return RunSpec(
        protocol=protocol(plan.protocol),
        schema=schema.parsed,
        cast=cast,
        salt=salt_of(project),
        settings=plan.settings,
        guideline=guideline.text if guideline else "",
        params=plan.params,
    )


def _rehearse(
    run_spec: RunSpec, claimed: ClaimedDebate, sums: _Rehearsal, *, agreeing: bool
) -> None:
    """Run a debate with invented answers, all the same or all different, and count its calls."""
    debate: Debate = run_spec.start(claimed.debate_item)
    schema = run_spec.schema.of_item(claimed.item.options)
    # Different answers, as far as the question allows.
    values = schema.task.values(schema, claimed.item.options) or [""]
    try:
        calls = next(debate)
        while True:
            for call in calls:
                _count_call(run_spec, call, sums)
            calls = debate.send(
                [
                    Reply(
                        text=TYPICAL_ANSWER,
                        value=None
                        if call.output == Output.ARGUMENT
                        else values[0 if agreeing else position % len(values)],
                        rung=3,
                    )
                    for position, call in enumerate(calls)
                ]
            )
    except StopIteration:
        return


def _count_call(run_spec: RunSpec, call: Call, rehearsal: _Rehearsal) -> None:
    sums = rehearsal.once if call.once else rehearsal.per_debate
    if call.once:
        if call.messages in sums.asked_once:
            return
        sums.asked_once.add(call.messages)
    model = run_spec.cast[call.role].model
    messages = call.json_messages or call.messages
    answer = SHORT_ANSWER if call.fields == LABEL_ALONE else TYPICAL_ANSWER
    usage = estimate_usage(messages, answer)
    # Earlier replies in a prompt may be as long as the models were allowed to answer.
    heard = sum(message.content.count(TYPICAL_ANSWER.strip()) for message in messages)
    longest = max(model.max_output_tokens for model in run_spec.models)
    more = heard * max(0, longest - estimate_tokens(TYPICAL_ANSWER))
    sums.calls += 1
    sums.by_model[model.pk] = sums.by_model.get(model.pk, 0) + 1
    sums.tokens_in += usage.tokens_in
    sums.tokens_out += usage.tokens_out
    sums.cost += call_cost(model, usage) or 0
    most = Usage(tokens_in=usage.tokens_in + more, tokens_out=output_cap(model, call))
    sums.worst += call_cost(model, most) or 0


def _estimate_seconds(run_spec: RunSpec, sums: _Sums) -> float | None:
    """The time of the calls in parallel, judging by the models' last calls."""
    total = 0.0
    for model in run_spec.models:
        last = Turn.objects.filter(model=model, seconds__gt=0, reused=False).order_by("-pk")
        lately = Turn.objects.filter(pk__in=list(last.values_list("pk", flat=True)[:RECENT_CALLS]))
        latency = lately.aggregate(mean=Avg("seconds"))["mean"]
        if latency is None:
            return None
        total += sums.by_model.get(model.pk, 0) * latency / model.provider.max_concurrency
    return total
