"""What a study would take, before anything is written or paid."""

import hashlib
import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from apps.agreement.models import Prediction, Study
from apps.agreement.predictivity.asking import Form, call_of, form_of, items_of
from apps.agreement.predictivity.reading import Answers, read_answers
from apps.debates.services.driving.costs import call_cost, worst_cost
from apps.llm.models import ModelSpec
from apps.projects.models import Project
from labelhub.core.agreement.predictivity import (
    AUTHOR,
    CHANCE,
    NO_LABELS,
    SEED,
    PredictionTask,
    check_choice,
    plan_tasks,
)
from labelhub.core.errors import InvalidInput
from labelhub.core.llm.prices import estimate_usage

USUAL_EXAMPLES = (0, 1, 3, 5)
SAMPLES = 20
Key = tuple[int, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """A study as asked for; no ``sources``: the usual ones, see ``Answers.usual_sources``.

    Without a budget a study that goes on keeps the one it has, unless it is to be ``unlimited``.
    """

    model: ModelSpec
    sources: tuple[str, ...] = ()
    examples: tuple[int, ...] = USUAL_EXAMPLES
    limit: int | None = None
    budget_nanousd: int | None = None
    unlimited: bool = False
    seed: int = SEED


@dataclass(frozen=True, slots=True)
class Planned:
    """A complete plan with its tasks; ``study``: the one that was begun by the same plan."""

    plan: StudyPlan
    answers: Answers
    tasks: Sequence[PredictionTask]
    form: Form
    hash: str
    study: Study | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """Costs in nano-USD, None where the model's price is unknown; ``worst`` is for answers as long
    as they may be. ``calls`` are those still to be made."""

    users: int
    items: int
    tasks: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost_nanousd: int | None
    worst_nanousd: int | None
    offline: bool


def plan_study(project: Project, plan: StudyPlan, answers: Answers | None = None) -> Planned:
    """Complete and check the plan; nothing is written. ``answers``: if they have been read already.

    Raises:
        InvalidInput: it cannot be carried out, and what is missing.
    """
    answers = answers or read_answers(project)
    plan = _complete(plan, answers)
    tasks = plan_tasks(answers.rows, plan.sources, plan.examples, seed=plan.seed, limit=plan.limit)
    if not tasks:
        raise InvalidInput(_nothing(answers, plan))
    form = form_of(project, answers.schema)
    digest = plan_hash(plan, form)
    begun = Study.objects.filter(project=project, plan_hash=digest)
    study = begun.exclude(status=Study.Status.CANCELLED).first()
    return Planned(plan, answers, tasks, form, digest, study)


def estimate(planned: Planned) -> Estimate:
    """Calls, tokens and cost of what is left to do, from up to 20 real prompts."""
    done = answered_keys(planned.study)
    left = [task for task in planned.tasks if key_of(task) not in done]
    step = max(1, len(left) // SAMPLES)
    samples = left[::step][:SAMPLES]
    items = items_of(samples)
    model = planned.plan.model
    tokens_in = tokens_out = cost = worst = 0
    for task in samples:
        call = call_of(task, items, planned.form)
        usage = estimate_usage(call.messages, f"Final Decision: {max(task.options, key=len)}")
        tokens_in += usage.tokens_in
        tokens_out += usage.tokens_out
        cost += call_cost(model, usage) or 0
        worst += worst_cost(model, call)
    scale = len(left) / len(samples) if samples else 0.0
    known = model.prices_known
    return Estimate(
        users=len({task.user for task in planned.tasks}),
        items=len({task.item for task in planned.tasks}),
        tasks=len(planned.tasks),
        calls=len(left),
        tokens_in=math.ceil(tokens_in * scale),
        tokens_out=math.ceil(tokens_out * scale),
        cost_nanousd=math.ceil(cost * scale) if known else None,
        worst_nanousd=math.ceil(worst * scale) if known else None,
        offline=model.offline,
    )


def begun_words(planned: Planned, expected: Estimate) -> str:
    """What becomes of the study of the same plan; empty where there is none."""
    if planned.study is None:
        return ""
    if expected.calls == 0 and planned.study.status == Study.Status.DONE:
        return f"Study {planned.study.pk} of the same plan is finished: nothing is left to ask."
    return f"Study {planned.study.pk} of the same plan is continued."


def key_of(task: PredictionTask) -> Key:
    """What a task is known by within its study."""
    return task.item, task.source, task.examples


def user_key(task: PredictionTask) -> str:
    """Equal for the tasks of one author, and no name of theirs."""
    return hashlib.sha256(task.user.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def answered_keys(study: Study | None) -> Collection[Key]:
    """Tasks of the study that need no call any more."""
    if study is None:
        return ()
    done = study.predictions.filter(
        status__in=[Prediction.Status.ANSWERED, Prediction.Status.UNPARSED]
    )
    return set(done.order_by().values_list("item_id", "source", "examples"))


def plan_hash(plan: StudyPlan, form: Form) -> str:
    """Of all that was asked for but the budget, which may be raised; ``plan`` complete."""
    asked = [
        plan.model.pk,
        plan.model.identity,
        form.prompt.hash,
        form.schema.to_json(),
        sorted(plan.sources),
        sorted(set(plan.examples)),
        plan.limit,
        plan.seed,
    ]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _complete(plan: StudyPlan, answers: Answers) -> StudyPlan:
    sources = plan.sources or answers.usual_sources
    check_choice(sources, plan.examples, plan.limit)
    if plan.budget_nanousd is not None and plan.budget_nanousd < 0:
        raise InvalidInput("budget: must not be negative.")
    if plan.budget_nanousd is not None and plan.unlimited:
        raise InvalidInput("budget: give an amount or none at all, not both.")
    absent = [
        source
        for source in sources
        if source not in (AUTHOR, CHANCE, NO_LABELS) and source not in answers.labelled
    ]
    if absent:
        raise InvalidInput(f"sources: no answered item has a label by {' or '.join(absent)}.")
    return replace(plan, sources=tuple(sources), examples=tuple(sorted(set(plan.examples))))


def _nothing(answers: Answers, plan: StudyPlan) -> str:
    if not answers.rows:
        return "No author has answered yet: there is nothing to predict."
    where = " of one conversation" if answers.conversations else ""
    if not answers.users_with_two:
        return f"No author has given two answers{where}: there is nothing to predict one from."
    counts = ", ".join(f"{kind} {count:,}" for kind, count in answers.labelled.items())
    return (
        f"No author has another answer{where} that all of {', '.join(plan.sources)} have labelled. "
        f"Labelled of {len(answers.rows):,} answered items: {counts or 'none'}. Choose fewer "
        "sources, or have more of these items labelled."
    )
