"""Carrying out a training: learn, measure, then label whatever is not decided, chunk by chunk.

Nobody waits for a lock while anything is learnt.
"""

import time
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from apps.common.jobs import Interrupted, JobRun, fault_words, job, work_on
from apps.learning.models import LearningSwitch, TrainedModel
from apps.learning.selectors.answers import Answers
from apps.learning.selectors.lesson import read_gold, read_lesson
from apps.learning.services.applying import Chunk, next_chunk, write_chunk, write_judged
from apps.learning.services.learner import ChildLearner, Learner, LearnerDied, Said
from apps.learning.services.starting import KIND
from apps.projects.selectors import current_schema
from labelhub.core.errors import LabelhubError

TELL_SECONDS = 5.0
Status = TrainedModel.Status
OpenLearner = Callable[[], Learner]


class LabelsMoved(LabelhubError):
    """The labels were changed while it said things under those of before."""

    code = "labels_changed"


def run_training(model_id: int, *, open_learner: OpenLearner = ChildLearner) -> None:
    """Bring a training to its end, from where it had got to; see
    :func:`apps.common.jobs.work_on`."""
    work_on(KIND, model_id, open_learner=open_learner)


def fail_training(model_id: int, error: Exception) -> None:
    """Say how it failed; one whose labels were changed is cancelled."""
    status = Status.CANCELLED if isinstance(error, LabelsMoved) else Status.FAILED
    message = fault_words(error, "It stopped by {fault}.")
    rows = TrainedModel.objects.filter(pk=model_id, status__in=TrainedModel.UNFINISHED)
    rows.update(status=status, message=message, finished_at=timezone.now())


@job(KIND, fail=fail_training, threads=1)
def train(run: JobRun, *, open_learner: OpenLearner = ChildLearner) -> None:
    """A worker that is killed loses the chunk it was at; whoever takes the training up makes the
    same classifier again from the same gold and goes on behind the last chunk."""
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
    """One worker's turn at it."""

    def __init__(self, run: JobRun, model: TrainedModel, learner: Learner) -> None:
        self._run, self._model, self._learner = run, model, learner
        self._told, self._told_at = "", time.monotonic()

    def run(self) -> None:
        """Both halves; of the first only as much as is not done yet."""
        reading = read_gold(self._model.schema, self._model.gold_until)
        lesson, offline = read_lesson(reading)
        if self._model.quality is None:
            with self._run.chunk(further=False):
                self._write(status=Status.LEARNING, phase_at=timezone.now(), step="", share=0.0)
            told, judged = self._learner.learn(lesson, self._progress)
            with self._run.chunk():
                write_judged(self._model, reading, judged)
                self._write(
                    quality=told["quality"],
                    curve=told["curve"],
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
            said: list[Said] = []
            if chunk.items:
                said = self._learner.say(chunk.documents, chunk.beside, self._progress)
            self._commit(chunk, answers, said)
        with self._run.last_chunk():
            self._write(status=Status.DONE, message="", finished_at=timezone.now())

    def _commit(self, chunk: Chunk, answers: Answers, said: list[Said]) -> None:
        with self._run.chunk():
            applied, written = write_chunk(self._model, answers, chunk, said)
            self._check_labels()
            self._write(
                applied_to=chunk.last,
                applied=self._model.applied + applied,
                written=self._model.written + written,
            )

    def _progress(self, step: str | None, share: float) -> None:
        """Tell how far it is, every few seconds."""
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
        """With the items locked: a change of labels that begins later sees what was written.

        Raises:
            LabelsMoved: one has begun.
        """
        if current_schema(self._model.project).pk != self._model.schema_id:
            raise LabelsMoved("The labels were changed meanwhile; it learns anew by itself.")
