"""What became of a task, between what a model said and what is stored."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils import timezone

from apps.agreement.models import Prediction, Study
from apps.agreement.predictivity.asking import asked_hash
from apps.agreement.predictivity.planning import user_key
from apps.debates.services.driving.costs import call_cost
from apps.llm.models import ModelSpec
from apps.llm.texts import clean
from labelhub.core.agreement.comparison import name_of
from labelhub.core.agreement.predictivity import PredictionTask
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.errors import ContextTooLong
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Completion, Status, Usage
from labelhub.core.schema import fold

#: What earlier tries of a task left behind, to be added to.
TRIED = ("tokens_in", "tokens_out", "cost_nanousd", "seconds", "attempts")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A task whose call can be sent; ``row`` has at least its id and the fields ``TRIED``."""

    row: Prediction
    task: PredictionTask
    call: Call


@dataclass(frozen=True, slots=True)
class Outcome:
    """A task's row with its new ``fields``, and what was paid this time; cost None: unknown."""

    pk: int
    fields: Mapping[str, Any]
    usage: Usage
    cost: int | None


def answered(waiting: Waiting, model: ModelSpec, completion: Completion) -> Outcome:
    """Of a call that was answered. An answer that is not offered is unparsed, never guessed at."""
    call, task = waiting.call, waiting.task
    # Before it is read: what no database takes must not come in by what was read.
    completion = replace(completion, text=clean(completion.text))
    reply = read_completion(call, completion)
    name = "" if reply.value is None else name_of(call.schema, reply.value)
    read = reply.status is Status.OK and bool(name)
    fields = {
        "status": Prediction.Status.ANSWERED if read else Prediction.Status.UNPARSED,
        "answered": name if read else "",
        "right": read and fold(name) == fold(task.answer),
        "text": completion.text,
        "off_menu": reply.off_menu,
        "note": reply.note,
        "model_answered": completion.model_answered[:200],
        "params": dict(completion.effective_params),
    }
    attempts = [asdict(attempt) for attempt in completion.attempts]
    cost = call_cost(model, completion.usage)
    fields |= _asked(waiting, model)
    fields |= _spent(waiting.row, completion.usage, cost, completion.seconds, attempts)
    return Outcome(waiting.row.pk, fields, completion.usage, cost)


def failed(waiting: Waiting, model: ModelSpec, error: LabelhubError) -> Outcome:
    """Of a call that brought no answer; ``data['usage']`` of the error: paid for answers of no use.

    What does not fit into the model will not fit the next time either: unparsed, not failed.
    """
    too_long = isinstance(error, ContextTooLong)
    told = error.data.get("usage", {})
    usage = Usage(
        told.get("tokens_in", 0),
        told.get("tokens_out", 0),
        told.get("tokens_cached", 0),
        told.get("tokens_reasoning", 0),
        told.get("estimated", False),
    )
    attempts = list(error.data.get("attempts", []))
    seconds = sum(attempt.get("seconds", 0.0) for attempt in attempts)
    cost = call_cost(model, usage) if usage.tokens_in or usage.tokens_out else 0
    fields = {
        "status": Prediction.Status.UNPARSED if too_long else Prediction.Status.FAILED,
        "right": False if too_long else None,
        "note": error.message,
    }
    fields |= _asked(waiting, model) | _spent(waiting.row, usage, cost, seconds, attempts)
    return Outcome(waiting.row.pk, fields, usage, cost)


def closing_words(study: Study) -> str:
    """How a study ended."""
    kinds = Prediction.Status
    counts = {kind: study.predictions.filter(status=kind).count() for kind in kinds.values}
    made = counts[kinds.ANSWERED] + counts[kinds.UNPARSED]
    words = f"{made:,} of {sum(counts.values()):,} predictions made"
    if counts[kinds.UNPARSED]:
        words += f", {counts[kinds.UNPARSED]:,} of them without a usable answer"
    if counts[kinds.FAILED]:
        words += f", {counts[kinds.FAILED]:,} failed (resume the study to try those again)"
    if counts[kinds.VOID]:
        words += f", {counts[kinds.VOID]:,} left out (an answer was taken back)"
    return words + "."


def _asked(waiting: Waiting, model: ModelSpec) -> dict[str, Any]:
    task = waiting.task
    return {
        "asked": asked_hash(waiting.call, model),
        "expected": task.answer,
        "shown": [each.item for each in task.shown],
        "options": len(task.options),
        "user_key": user_key(task),
        "answered_at": timezone.now(),
    }


def _spent(
    row: Prediction, usage: Usage, cost: int | None, seconds: float, attempts: list[Any]
) -> dict[str, Any]:
    """With what earlier tries took."""
    return {
        "tokens_in": row.tokens_in + usage.tokens_in,
        "tokens_out": row.tokens_out + usage.tokens_out,
        "usage_estimated": usage.estimated,
        "cost_nanousd": None if cost is None else (row.cost_nanousd or 0) + cost,
        "seconds": row.seconds + seconds,
        "attempts": [*row.attempts, *attempts],
    }
