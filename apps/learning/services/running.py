"""Carrying out a training: learn, measure, then label whatever is not decided, chunk by chunk.

By one worker at a time, by a lease on the row. A worker that is killed loses the chunk it was at;
whoever takes it up makes the same classifier again from the same gold and goes on behind the last
chunk. Nobody waits for a lock while anything is learnt.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import DatabaseError, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from apps.learning.models import LearningSwitch, TrainedModel
from apps.learning.selectors.answers import Answers
from apps.learning.selectors.lesson import read_gold, read_lesson
from apps.learning.services.applying import Chunk, next_chunk, write_chunk, write_judged
from apps.learning.services.halting import closing
from apps.learning.services.learner import ChildLearner, Learner, LearnerDied, Said
from apps.projects.selectors import current_schema
from labelhub.core.errors import LabelhubError

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=60)
RENEW_SECONDS = 5.0
#: After a database error it is free again for the next worker that looks.
RETRY_AFTER = timedelta(seconds=10)
#: Taken up so often without getting further, it fails: something about it kills its workers.
MOST_ATTEMPTS = 4
Status = TrainedModel.Status
OpenLearner = Callable[[], Learner]


class LeaseLost(LabelhubError):
    """Another worker has it now, or it was cancelled; what this one held is rolled back."""

    code = "lease_lost"


class LabelsMoved(LabelhubError):
    """The labels were changed while it said things under those of before."""

    code = "labels_changed"


class Closing(LabelhubError):
    """This process is about to end."""

    code = "closing"


def run_training(model_id: int, *, open_learner: OpenLearner = ChildLearner) -> None:
    """Bring a training to its end, from where it had got to. Safe to call at any time.

    The outcome is in ``status`` and ``message``; only faults of the database are raised, after
    which it stays unfinished and is taken up again.
    """
    model = _claim(model_id)
    if model is None:
        return
    held = Held(model)
    try:
        _carry_out(held, open_learner)
    except LeaseLost:
        logger.info("training %s is not ours any more", model_id)
    except Closing:  # no fault of the training's
        held.let_go(attempts=Greatest(F("attempts") - 1, 0))
    except DatabaseError:
        held.let_go(RETRY_AFTER)
        raise


def _carry_out(held: "Held", open_learner: OpenLearner) -> None:
    """All of it; what goes wrong ends it, unless it is worth another try."""
    model = held.model
    try:
        if model.attempts > MOST_ATTEMPTS:
            words = "It was taken up several times and never got any further. Train again; if that "
            held.finish(Status.FAILED, f"{words}ends the same way, the server's log says why.")
            return
        with open_learner() as learner:
            _Training(held, learner).run()
    except (LeaseLost, Closing, DatabaseError):
        raise
    except LabelsMoved as error:
        held.finish(Status.CANCELLED, error.message)
    except LearnerDied as error:
        logger.warning("training %s: %s %s", model.pk, error.message, error.data.get("stderr", ""))
        held.let_go(RETRY_AFTER)
    except LabelhubError as error:
        held.finish(Status.FAILED, error.message)
    except Exception as error:
        logger.exception("training %s stopped", model.pk)
        held.finish(Status.FAILED, f"It stopped by a fault of the server ({type(error).__name__}).")


def _claim(model_id: int) -> TrainedModel | None:
    """One conditional update: exclusive on every database."""
    now = timezone.now()
    rows = TrainedModel.objects.filter(pk=model_id, status__in=TrainedModel.UNFINISHED)
    free = rows.filter(lease_until__isnull=True) | rows.filter(lease_until__lt=now)
    if not free.update(lease_token=uuid4(), lease_until=now + LEASE, attempts=F("attempts") + 1):
        return None
    return TrainedModel.objects.select_related("project", "schema").get(pk=model_id)


class Held:
    """A row that this worker holds, and what it may do to it as long as that is so."""

    def __init__(self, model: TrainedModel) -> None:
        self.model = model
        self._renewed = time.monotonic()
        self._told = ""

    def write(self, **fields: Any) -> None:
        """Change the row and renew the lease.

        Raises:
            LeaseLost: it is not ours any more.
        """
        if not self._row().update(lease_until=timezone.now() + LEASE, **fields):
            raise LeaseLost(f"Training {self.model.pk} is not ours any more.")
        self._renewed = time.monotonic()
        for name, value in fields.items():
            setattr(self.model, name, value)

    def progress(self, step: str | None, share: float) -> None:
        """Tell how far it is, every few seconds; stop where the process is to end.

        Raises:
            LeaseLost: it is not ours any more.
            Closing: this process is about to end.
        """
        if closing():
            raise Closing("The server is being stopped.")
        news = step is not None and step != self._told
        if not news and time.monotonic() - self._renewed < RENEW_SECONDS:
            return
        self.write(**({} if step is None else {"step": step, "share": share}))
        self._told = step or self._told

    def finish(self, status: Status, message: str = "") -> None:
        """Its end; nothing happens where it is not ours any more."""
        now = timezone.now()
        self._row().update(
            status=status, message=message, finished_at=now, lease_until=None, lease_token=None
        )

    def let_go(self, rest: timedelta | None = None, **fields: Any) -> None:
        """Free it for the next worker that looks, after ``rest``."""
        until = timezone.now() + rest if rest else None
        self._row().update(lease_until=until, lease_token=None, dispatched_until=None, **fields)

    def _row(self) -> QuerySet[TrainedModel]:
        return TrainedModel.objects.filter(
            pk=self.model.pk,
            lease_token=self.model.lease_token,
            status__in=TrainedModel.UNFINISHED,
        )


class _Training:
    """One worker's turn at it."""

    def __init__(self, held: Held, learner: Learner) -> None:
        self._held, self._learner = held, learner
        self._model = held.model

    def run(self) -> None:
        """Both halves; of the first only as much as is not done yet."""
        reading = read_gold(self._model.schema, self._model.gold_until)
        lesson, offline = read_lesson(reading)
        if self._model.quality is None:
            self._held.write(status=Status.LEARNING, phase_at=timezone.now(), step="", share=0.0)
            told, judged = self._learner.learn(lesson, self._held.progress)
            with transaction.atomic():
                write_judged(self._model, reading, judged)
                self._held.write(
                    quality=told["quality"],
                    curve=told["curve"],
                    offline=offline,
                    examples=len(reading.golds),
                    left_out=reading.left_out,
                    status=Status.APPLYING,
                    phase_at=timezone.now(),
                    attempts=0,
                )
        else:
            temperature = float(self._model.quality["temperature"])
            self._learner.fit(lesson, temperature, self._held.progress)
        self._apply(reading.answers)

    def _apply(self, answers: Answers) -> None:
        LearningSwitch.objects.filter(pk=self._model.project_id).update(ranked=True)
        while chunk := next_chunk(self._model, answers):
            said: list[Said] = []
            if chunk.items:
                said = self._learner.say(chunk.documents, chunk.beside, self._held.progress)
            self._commit(chunk, answers, said)
        self._held.finish(Status.DONE)

    def _commit(self, chunk: Chunk, answers: Answers, said: list[Said]) -> None:
        with transaction.atomic():
            applied, written = write_chunk(self._model, answers, chunk, said)
            self._check_labels()
            self._held.write(
                applied_to=chunk.last,
                applied=self._model.applied + applied,
                written=self._model.written + written,
                attempts=0,
            )

    def _check_labels(self) -> None:
        """With the items locked: a change of labels that begins later sees what was written.

        Raises:
            LabelsMoved: one has begun.
        """
        if current_schema(self._model.project).pk != self._model.schema_id:
            raise LabelsMoved("The labels were changed meanwhile; it learns anew by itself.")
