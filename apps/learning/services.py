"""Learning: switch it, start a training, run it.

A training learns, measures, then labels the undecided items chunk by chunk. It holds no lock while
it learns.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.common.jobs import (
    Interrupted,
    JobRun,
    cancel_job,
    failure_message,
    job,
    start_job,
    work_on,
)
from apps.common.queues import HEAVY
from apps.labels.blindness import is_audit
from apps.labels.models import ItemState, Kind, Label
from apps.labels.services import NewLabel, annotator_for, rank_items, record_learned, unrank_items
from apps.learning.learner import ChildLearner, Judgement, Learner, LearnerDied, Prediction
from apps.learning.models import LearningSwitch, Score, TrainedModel
from apps.learning.selectors import (
    Answers,
    Reading,
    decided_items,
    newest_gold,
    read_documents,
    read_gold,
    read_lesson,
)
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.errors import Conflict, LabelhubError
from labelhub.core.learning import LEAST_GOLD, Document, labels_until_relearning

KIND, CLEAR = "learning.train", "learning.clear_ranks"
#: The pause before new items are labelled: the model must be fitted again each time.
REST = timedelta(minutes=5)
Status = TrainedModel.Status


@transaction.atomic
def switch_learning(*, project: Project, on: bool, actor: User | None) -> LearningSwitch:
    """Switch learning on or off. Off cancels the current training and clears the queue's order in
    the background; models and their labels stay."""
    switch, _ = LearningSwitch.objects.get_or_create(project=project)
    switch = LearningSwitch.objects.select_for_update().get(pk=switch.pk)
    if switch.on != on:
        switch.on, switch.changed_by, switch.changed_at = on, actor, timezone.now()
        switch.save(update_fields=["on", "changed_by", "changed_at"])
        record(Action.LEARNING_CHANGED, project, changes={"on": (not on, on)})
    if not on:
        going = TrainedModel.objects.filter(project=project, status__in=TrainedModel.UNFINISHED)
        for model_id in going.values_list("pk", flat=True):
            cancel_job(KIND, model_id)
        going.update(status=Status.CANCELLED, finished_at=timezone.now())
        start_job(CLEAR, project.pk)
    return switch


def start_training(
    *, project: Project, actor: User | None = None, send: bool = True
) -> TrainedModel:
    """A new version, queued for a worker; the unfinished one, if there is one.

    ``send=False``: the caller runs it.

    Raises:
        Conflict: learning is switched off.
        NotLearnable: a classifier cannot learn the project's answers.
        TooLittleGold: the message says how much gold is missing.
    """
    models = TrainedModel.objects.filter(project=project)
    going = models.filter(status__in=TrainedModel.UNFINISHED).first()
    if going is not None:
        return going
    if not LearningSwitch.objects.filter(project=project, on=True).exists():
        raise Conflict("Learning is switched off in this project; switch it on first.")
    schema, until = current_schema(project), newest_gold(project.pk)
    read_gold(schema, until)
    try:
        with transaction.atomic():
            last = models.aggregate(version=Max("version"))["version"] or 0
            model = TrainedModel.objects.create(
                project=project,
                version=last + 1,
                schema=schema,
                gold_until=until,
                decided=decided_items(project.pk),
                created_by=actor,
                phase_at=timezone.now(),
            )
            start_job(KIND, model.pk, send=send)
            return model
    except IntegrityError:  # another request has started one at this moment
        return models.filter(status__in=TrainedModel.UNFINISHED).latest("version")


def due_projects() -> Sequence[tuple[Project, int]]:
    """Projects with enough new gold for a training, with their numbers of decided items.

    Two queries for each project that learns; no count is stored.
    """
    going = TrainedModel.objects.filter(
        project=OuterRef("project"), status__in=TrainedModel.UNFINISHED
    )
    switches = LearningSwitch.objects.filter(~Exists(going), on=True).select_related("project")
    found = ((switch.project, decided_items(switch.project_id)) for switch in switches)
    return [(project, decided) for project, decided in found if _is_due(project, decided)]


def _is_due(project: Project, decided: int) -> bool:
    last = TrainedModel.objects.filter(project=project).order_by("-version").first()
    if last is None or last.status == Status.CANCELLED:
        return decided >= LEAST_GOLD
    grown = decided >= last.decided + labels_until_relearning(last.decided)
    return grown or last.schema_id != current_schema(project).pk


def reopen_for_new_items() -> int:
    """Let finished models label items imported since; returns how many models."""
    newer = TrainedModel.objects.filter(
        project=OuterRef("project"), version__gt=OuterRef("version")
    )
    beyond = Item.objects.filter(project=OuterRef("project"), pk__gt=OuterRef("applied_to"))
    rested = TrainedModel.objects.filter(
        ~Exists(newer),
        Exists(beyond),
        status=Status.DONE,
        project__learning__on=True,
        finished_at__lt=timezone.now() - REST,
    )
    count = 0
    for pk in rested.values_list("pk", flat=True):
        done = TrainedModel.objects.filter(pk=pk, status=Status.DONE)
        # A newer version that begins at this moment breaks a constraint.
        with suppress(IntegrityError), transaction.atomic():
            if done.update(status=Status.APPLYING, phase_at=timezone.now()):
                start_job(KIND, pk)
                count += 1
    return count


def unswept_projects() -> list[int]:
    """Projects where learning is off and whose queue still follows the model's order."""
    rows = LearningSwitch.objects.filter(on=False, ranked=True)
    return list(rows.values_list("project_id", flat=True))


@job(CLEAR, queue=HEAVY)
def clear_ranks(run: JobRun) -> None:
    """Order a project's queue without the model, unless it was switched on again meanwhile."""
    switch = LearningSwitch.objects.filter(pk=run.subject, on=False).select_related("project")
    if found := switch.first():
        unrank_items(found.project)
        switch.update(ranked=False)


#: The name in agreement, exports and the ledger.
NAME = "trained on gold"
ITEMS_AT_ONCE = 1000
_SCORED = [
    "project", "model", "value", "probability", "margin", "gold", "gold_probability", "suspicion",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chunk:
    """Undecided items that the classifier can answer, up to ``last``; ``beside``: the current
    suggestion of each, as label numbers."""

    last: int
    items: Sequence[int]
    options: Sequence[Sequence[str]]
    documents: Sequence[Document]
    beside: Sequence[Sequence[int] | None]


def next_chunk(model: TrainedModel, answers: Answers) -> Chunk | None:
    """The next items after the labelled ones; None at the end."""
    looked = Item.objects.filter(project=model.project_id, pk__gt=model.applied_to).order_by("pk")
    ids = list(looked.values_list("pk", flat=True)[:ITEMS_AT_ONCE])
    if not ids:
        return None
    rows = ItemState.objects.filter(item__in=ids, gold=None)
    states = rows.select_related("suggestion").order_by("item_id")
    options = dict(Item.objects.filter(pk__in=ids).values_list("pk", "options"))
    open_states = [state for state in states if answers.fits(options[state.item_id])]
    found = [state.item_id for state in open_states]
    documents = dict(read_documents(Item.objects.filter(pk__in=found)))
    return Chunk(
        last=ids[-1],
        items=found,
        options=[options[item] for item in found],
        documents=[documents.get(item, Document("")) for item in found],
        beside=[_suggested_numbers(state, answers) for state in open_states],
    )


def _suggested_numbers(state: ItemState, answers: Answers) -> Sequence[int] | None:
    """None for blind audits: the place in the queue must not reveal the debate's label."""
    if is_audit(state) or state.suggestion is None:
        return None
    return answers.number(state.suggestion.value)


def write_chunk(
    model: TrainedModel, answers: Answers, chunk: Chunk, predictions: Sequence[Prediction]
) -> tuple[int, int]:
    """Write new labels, scores and the queue's order, in the caller's transaction; returns the
    number of items and of new labels. Items decided meanwhile are left alone."""
    by = annotator_for(model.project, kind=Kind.MODEL, name=NAME)
    values = [
        answers.value(prediction.labels, options)
        for prediction, options in zip(predictions, chunk.options, strict=True)
    ]
    drafts = [
        NewLabel(
            item_id=item,
            annotator=by,
            schema=model.schema,
            value=value,
            action=Label.Action.PROPOSED,
            confidence=prediction.probability,
            role=Label.Role.TRAINED,
            provenance={"model_version": model.version, "examples": model.examples},
        )
        for item, value, prediction in zip(chunk.items, values, predictions, strict=True)
    ]
    open_ids, written = record_learned(drafts)
    scores = [
        Score(
            item_id=item,
            project_id=model.project_id,
            model=model,
            value=value,
            probability=prediction.probability,
            margin=prediction.margin,
        )
        for item, value, prediction in zip(chunk.items, values, predictions, strict=True)
        if item in open_ids
    ]
    _store(scores)
    doubts: dict[int, float | None] = {
        item: doubt_about(prediction)
        for item, prediction in zip(chunk.items, predictions, strict=True)
    }
    rank_items(model.project, {item: doubts[item] for item in doubts if item in open_ids})
    return len(scores), written


def doubt_about(prediction: Prediction) -> float:
    """The probability that the item's label is wrong: the debate's label where there is one, else
    the model's own."""
    likely = prediction.probability if prediction.beside is None else prediction.beside
    return min(max(1.0 - likely, 0.0), 1.0)


def write_judged(model: TrainedModel, reading: Reading, judged: Sequence[Judgement]) -> None:
    """Write the scores of the learnt gold, in the caller's transaction; none for erased items."""
    options: dict[int, Sequence[str]] = {}
    for start in range(0, len(reading.items), ITEMS_AT_ONCE):
        rows = Item.objects.filter(pk__in=reading.items[start : start + ITEMS_AT_ONCE])
        options.update(rows.values_list("pk", "options"))
    _store(
        [
            Score(
                item_id=item,
                project_id=model.project_id,
                model=model,
                value=reading.answers.value(judgement.labels, options[item]),
                probability=judgement.probability,
                margin=judgement.margin,
                gold_id=gold,
                gold_probability=judgement.gold,
                suspicion=judgement.suspicion,
            )
            for item, gold, judgement in zip(reading.items, reading.golds, judged, strict=True)
            if item in options
        ]
    )


def _store(scores: Sequence[Score]) -> None:
    Score.objects.bulk_create(
        scores,
        update_conflicts=True,
        unique_fields=["item"],
        update_fields=_SCORED,
        batch_size=ITEMS_AT_ONCE,
    )


TELL_SECONDS = 5.0
OpenLearner = Callable[[], Learner]


class LabelsMoved(LabelhubError):
    """The labels were changed while the model used the former ones."""

    code = "labels_changed"


def run_training(model_id: int, *, open_learner: OpenLearner = ChildLearner) -> None:
    """Finish a training from where it stopped; see
    :func:`apps.common.jobs.work_on`."""
    work_on(KIND, model_id, open_learner=open_learner)


def fail_training(model_id: int, error: Exception) -> None:
    """Store why it failed; a training whose labels were changed is cancelled."""
    status = Status.CANCELLED if isinstance(error, LabelsMoved) else Status.FAILED
    message = failure_message(error)
    rows = TrainedModel.objects.filter(pk=model_id, status__in=TrainedModel.UNFINISHED)
    rows.update(status=status, message=message, finished_at=timezone.now())


@job(KIND, fail=fail_training, threads=1, queue=HEAVY)
def train(run: JobRun, *, open_learner: OpenLearner = ChildLearner) -> None:
    """Run a training. A killed worker loses its chunk; the next one makes the same classifier from
    the same gold and goes on after the last chunk."""
    going = TrainedModel.objects.filter(pk=run.subject, status__in=TrainedModel.UNFINISHED)
    model = going.select_related("project", "schema").first()
    if model is None:
        return
    try:
        with open_learner() as learner:
            _Training(run, model, learner).run()
    except LearnerDied as error:
        raise Interrupted(f"{error.message} {error.data.get('stderr', '')}") from None


class _Training:
    """One worker's run of a training."""

    def __init__(self, run: JobRun, model: TrainedModel, learner: Learner) -> None:
        self._run, self._model, self._learner = run, model, learner
        self._told, self._told_at = "", time.monotonic()

    def run(self) -> None:
        reading = read_gold(self._model.schema, self._model.gold_until)
        lesson, offline = read_lesson(reading)
        if self._model.quality is None:
            with self._run.chunk(further=False):
                self._write(status=Status.LEARNING, phase_at=timezone.now(), step="", share=0.0)
            measured, judged = self._learner.learn(lesson, self._progress)
            with self._run.chunk():
                write_judged(self._model, reading, judged)
                self._write(
                    quality=measured["quality"],
                    curve=measured["curve"],
                    offline=offline,
                    examples=len(reading.golds),
                    left_out=reading.left_out,
                    status=Status.APPLYING,
                    phase_at=timezone.now(),
                )
        else:
            temperature = float(self._model.quality["temperature"])
            self._learner.fit(lesson, temperature, self._progress)
        self._apply(reading.answers)

    def _apply(self, answers: Answers) -> None:
        LearningSwitch.objects.filter(pk=self._model.project_id).update(ranked=True)
        while chunk := next_chunk(self._model, answers):
            predictions: list[Prediction] = []
            if chunk.items:
                predictions = self._learner.say(chunk.documents, chunk.beside, self._progress)
            self._commit(chunk, answers, predictions)
        with self._run.last_chunk():
            self._write(status=Status.DONE, message="", finished_at=timezone.now())

    def _commit(self, chunk: Chunk, answers: Answers, predictions: list[Prediction]) -> None:
        with self._run.chunk():
            applied, written = write_chunk(self._model, answers, chunk, predictions)
            self._check_labels()
            self._write(
                applied_to=chunk.last,
                applied=self._model.applied + applied,
                written=self._model.written + written,
            )

    def _progress(self, step: str | None, share: float) -> None:
        """Store the progress, every few seconds."""
        self._run.keep()
        news = step is not None and step != self._told
        if not news and time.monotonic() - self._told_at < TELL_SECONDS:
            return
        if step is not None:
            with self._run.chunk(further=False):
                self._write(step=step, share=share)
        self._told, self._told_at = step or self._told, time.monotonic()

    def _write(self, **fields: Any) -> None:
        for name, value in fields.items():
            setattr(self._model, name, value)
        self._model.save(update_fields=list(fields))

    def _check_labels(self) -> None:
        """Check the schema with the items locked, so that a later change of labels sees our writes.

        Raises:
            LabelsMoved: the labels have changed.
        """
        if current_schema(self._model.project).pk != self._model.schema_id:
            raise LabelsMoved(
                "The labels were changed meanwhile; the model retrains automatically."
            )
