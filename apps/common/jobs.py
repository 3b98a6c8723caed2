"""Long work in chunks, by one worker at a time, resumed after kills.

    @job("reviews.requeue", fail=fail_requeue)
    def requeue_chunks(run: JobRun) -> None:
        requeue = Requeue.objects.get(pk=run.subject)
        while labels := next_labels(requeue):
            with run.chunk():               # commits together with the lease, or not at all
                withdraw(labels, requeue)
        with run.last_chunk():              # commits together with the end of the job
            end(requeue)

    start_job("reviews.requeue", requeue.pk)    # in the transaction that asks for the work
    work_on("reviews.requeue", requeue.pk)      # here and now, instead of waiting for a worker

A job's row exists until the work is done; the subject stores progress and result. The database is
the truth: a Celery task only wakes a worker, and :func:`resume_jobs` sends lost tasks again.
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from celery import shared_task
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, connections, transaction
from django.db.models import Case, CharField, Exists, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest
from django.utils import timezone
from structlog.contextvars import bound_contextvars

from apps.common.audit import Action, record
from apps.common.metrics import JOBS
from apps.common.models import Hold, Job
from apps.common.queues import INTERACTIVE
from apps.common.traces import span
from apps.common.workers import SERVED
from labelhub.core.errors import LabelhubError, Unavailable
from labelhub.core.phrases import Phrase, join_sentences

logger = logging.getLogger(__name__)

#: A worker that has not renewed its lease for so long is dead.
LEASE = timedelta(seconds=60)
#: Wait before the next attempt after a database error.
RETRY_AFTER = timedelta(seconds=10)
#: A task that no worker has started after so long is sent again.
SEND_AGAIN = timedelta(seconds=20)
#: Attempts without progress after which a job fails: it seems to kill its workers.
MOST_ATTEMPTS = 4
NO_PROGRESS = Phrase("Several attempts made no progress; see the server's log for the reason.")


class LeaseLost(LabelhubError):
    """Another worker has the job, or it was cancelled; the current chunk is rolled back."""

    code = "lease_lost"


class Postponed(LabelhubError):
    """The job is not done and not at fault; a worker resumes it after ``wait``."""

    code = "postponed"

    def __init__(self, message: str, wait: timedelta = timedelta()) -> None:
        super().__init__(message)
        self.wait = wait


class Interrupted(LabelhubError):
    """Something that the job needs is broken; a few retries follow."""

    code = "interrupted"


Fail = Callable[[int, Exception], None]
Work = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job: ``work`` does it, ``fail`` stores its failure in a transaction of its own.

    A kind without ``fail`` is retried until it succeeds. ``threads`` limits the kind's own threads
    in a process, if it has them. ``lease`` replaces :data:`LEASE`. ``queue``: see
    :mod:`apps.common.queues`. ``outward``: see :mod:`apps.common.holds`.
    """

    work: Work
    fail: Fail | None = None
    threads: threading.Semaphore | None = None
    lease: timedelta | None = None
    queue: str = INTERACTIVE
    outward: bool = False


KINDS: dict[str, Kind] = {}
_closing = threading.Event()
#: Postponed jobs come last.
_TURNS = (F("lease_until").asc(nulls_first=True), "pk")
_THREAD = "job-"


def job(
    name: str,
    *,
    fail: Fail | None = None,
    threads: int = 0,
    lease: timedelta | None = None,
    queue: str = INTERACTIVE,
    outward: bool = False,
) -> Callable[[Work], Work]:
    """Register a function that does jobs of the kind ``name``.

    It gets a :class:`JobRun` and must resume from the stored progress of the subject, as it is
    called again after a kill. It returns at once if the subject is gone or finished.
    ``threads``: run the kind in this many threads of its own in each worker process, so that it
    neither waits for other work nor delays it. ``lease``: instead of :data:`LEASE`.
    ``queue``: one of :data:`apps.common.queues.QUEUES`. ``outward``: no worker takes it while the
    server is held after a restore.
    """

    def register(work: Work) -> Work:
        own = threading.Semaphore(threads) if threads else None
        KINDS[name] = Kind(work, fail, own, lease, queue, outward)
        return work

    return register


@dataclass(slots=True)
class JobRun:
    """One worker's attempt at a job, with the token of its lease."""

    kind: str
    subject: int
    token: uuid.UUID = field(default_factory=uuid.uuid4)
    _renewed: float = field(default_factory=time.monotonic)

    @contextmanager
    def chunk(self, *, further: bool = True, closing: bool = False) -> Iterator[None]:
        """A transaction that commits only while we hold the lease, and renews it.

        ``further=False``: the chunk makes no progress, so attempts are not reset.
        ``closing=True``: also while this process ends, to store results that were paid for.

        Raises:
            LeaseLost: we no longer hold the lease.
            Postponed: this process is about to end.
        """
        if not closing:
            _refuse_when_closing()
        with transaction.atomic():
            self._lock()
            yield
            self.renew(**({"attempts": 0} if further else {}))

    @contextmanager
    def last_chunk(self) -> Iterator[None]:
        """Like :meth:`chunk`, and ends the job; also while this process ends.

        Raises:
            LeaseLost: we no longer hold the lease.
        """
        with transaction.atomic():
            self._lock()
            yield
            self.rows().delete()

    def keep(self) -> None:
        """Renew the lease if it is due, within slow chunks.

        Raises:
            LeaseLost: we no longer hold the lease.
            Postponed: this process is about to end.
        """
        _refuse_when_closing()
        if time.monotonic() - self._renewed > _lease(self.kind).total_seconds() / 3:
            self.renew()

    def renew(self, **fields: Any) -> None:
        """Renew the lease.

        Raises:
            LeaseLost: we no longer hold the lease.
        """
        if not self.rows().update(lease_until=timezone.now() + _lease(self.kind), **fields):
            raise LeaseLost(f"The job {self.kind} {self.subject} is not ours any more.")
        self._renewed = time.monotonic()

    def rows(self) -> QuerySet[Job]:
        """The job's row while we hold its lease."""
        return Job.objects.filter(kind=self.kind, subject=self.subject, lease_token=self.token)

    def _lock(self) -> None:
        # The job before its subject, as a cancellation does, to avoid deadlocks.
        if self.rows().select_for_update().values_list("pk").first() is None:
            raise LeaseLost(f"The job {self.kind} {self.subject} is not ours any more.")


def start_job(kind: str, subject: int, *, send: bool = True) -> None:
    """Have a worker do the work; ``send=False`` if the caller uses :func:`work_on` at once."""
    sent = timezone.now() + SEND_AGAIN
    rows = Job.objects.filter(kind=kind, subject=subject)
    # A worker that is about to end an earlier job of this subject loses its lease.
    if not rows.update(lease_token=None, lease_until=None, sent_until=sent, attempts=0):
        Job.objects.get_or_create(kind=kind, subject=subject, defaults={"sent_until": sent})
    if send:
        _send_task(kind, subject)


def wake_job(kind: str, subject: int) -> None:
    """Like :func:`start_job`, but a running job goes on; a postponed one resumes now."""
    Job.objects.get_or_create(kind=kind, subject=subject)
    Job.objects.filter(kind=kind, subject=subject, lease_token=None).update(lease_until=None)
    _send_task(kind, subject)


def retry_job(job: Job) -> bool:
    """Let a worker resume a postponed job now; False if it runs, or waits for a worker already. A
    job that ended meanwhile stays ended."""
    sent = timezone.now() + SEND_AGAIN
    postponed = Job.objects.filter(pk=job.pk, lease_token=None, lease_until__gt=timezone.now())
    if not postponed.update(lease_until=None, attempts=0, sent_until=sent):
        return False
    record(Action.JOB_RETRIED, job, name=str(job))
    _send_task(job.kind, job.subject)
    return True


def job_state(now: datetime) -> Case:
    """``waiting`` for a worker, ``postponed`` or ``running``, of rows of :class:`Job`."""
    return Case(
        When(Q(lease_until=None) | Q(lease_until__lte=now), then=Value("waiting")),
        When(lease_token=None, then=Value("postponed")),
        default=Value("running"),
        output_field=CharField(),
    )


def ensure_jobs(kind: str, subjects: Collection[int]) -> None:
    """Create the missing jobs of ``subjects``, for housekeeping."""
    there = Job.objects.filter(kind=kind, subject__in=subjects) if subjects else Job.objects.none()
    known = set(there.values_list("subject", flat=True))
    for subject in subjects:
        if subject not in known:
            Job.objects.get_or_create(kind=kind, subject=subject)


def cancel_job(kind: str, subject: int) -> None:
    """Stop the work; its worker writes nothing more."""
    Job.objects.filter(kind=kind, subject=subject).delete()


def waiting_jobs(kind: str) -> list[int]:
    """The subjects that wait for a worker, longest wait first."""
    free = Job.objects.filter(_free(), kind=kind)
    return list(free.order_by(*_TURNS).values_list("subject", flat=True))


def work_on(kind: str, subject: int, **options: Any) -> None:
    """Do the work from its stored progress. Safe to call at any time, in any process.

    Does nothing if another worker holds the job. The subject stores the result; only errors of the
    database and of capacity are raised, and a worker retries after them.

    Raises:
        Unavailable: there is no capacity now.
    """
    Job.objects.get_or_create(kind=kind, subject=subject)
    _run_if_free(kind, subject, options)


def _run_if_free(kind: str, subject: int, options: Mapping[str, Any] | None = None) -> None:
    """Do an existing job, unless another worker holds it."""
    run = JobRun(kind, subject)
    attempts = _claim(run)
    if not attempts:
        return
    about: dict[str, str | float] = {"labelhub.job": kind, "labelhub.subject": subject}
    with (
        bound_contextvars(job=f"{kind} {subject}"),
        span(f"job {kind}", attributes=about) as traced,
    ):
        outcome = "interrupted"
        try:
            outcome = _end_attempt(run, attempts, options or {})
        finally:
            JOBS.labels(kind, outcome).inc()
            traced.set("labelhub.outcome", outcome)


def _end_attempt(run: JobRun, attempts: int, options: Mapping[str, Any]) -> str:
    """Attempt the job and release it; the outcome for the metrics."""
    kind, subject = run.kind, run.subject
    try:
        outcome = _run_or_fail(run, attempts, options)
    except LeaseLost:
        logger.warning("%s %s was taken over or cancelled", kind, subject)
        return "lost"
    except Postponed as error:
        fault = failure_message(error.__cause__) if isinstance(error.__cause__, Exception) else ""
        _release(run, attempts=0, lease_until=timezone.now() + error.wait, message=fault)
        return "postponed"
    except Interrupted as error:
        logger.warning("%s %s was interrupted: %s", kind, subject, error.message)
        _release(run, lease_until=timezone.now() + RETRY_AFTER, message=error.message)
        return "interrupted"
    except Unavailable:
        _release(run, attempts=0)
        raise
    except DatabaseError as error:  # does not count as an attempt
        one_less = Greatest(F("attempts") - 1, 0)
        _release(
            run,
            lease_until=timezone.now() + RETRY_AFTER,
            attempts=one_less,
            message=failure_message(error),
        )
        raise
    run.rows().delete()
    return outcome


def failure_message(error: Exception, *advice: str) -> Phrase:
    """The message of an expected error, or else that the server failed, with ``advice``."""
    if isinstance(error, LabelhubError):
        return error.message
    fault = Phrase("It stopped because of a server error (%(name)s).", name=type(error).__name__)
    return join_sentences(fault, *advice)


@shared_task(name="common.work")
def work_task(kind: str, subject: int) -> None:
    """Do a job, unless it has ended meanwhile."""
    if threads := KINDS[kind].threads:
        _work_in_thread(kind, subject, threads)
    else:
        _run_if_free(kind, subject)


def route_task(
    name: str, args: Sequence[Any] | None, *_: Any, **_options: Any
) -> dict[str, str] | None:
    """The queue of a task, for Celery."""
    return {"queue": KINDS[args[0]].queue} if name == work_task.name and args else None


def stop_all_jobs() -> None:
    """Ask all jobs of this process to stop soon; other workers resume them."""
    _closing.set()


def is_closing() -> bool:
    """Whether this process is about to end."""
    return _closing.is_set()


def await_threads() -> None:
    """Wait for the threads of kinds that have their own; call :func:`stop_all_jobs` first."""
    for thread in threading.enumerate():
        if thread.name.startswith(_THREAD):
            thread.join()


def resume_jobs() -> None:
    """Wake a worker for every job that no worker holds. Cheap, and safe in several processes; call
    it in workers only, as it starts kinds with threads of their own in this process."""
    now = timezone.now()
    threads = {
        name: kind.threads for name, kind in KINDS.items() if kind.threads and kind.queue in SERVED
    }
    unsent = Job.objects.filter(_free()).filter(
        Q(sent_until=None) | Q(sent_until__lte=now) | Q(kind__in=threads)
    )
    for waiting in unsent.order_by(*_TURNS):
        if waiting.kind in threads:
            _work_in_thread(waiting.kind, waiting.subject, threads[waiting.kind])
        elif unsent.filter(pk=waiting.pk).update(sent_until=now + SEND_AGAIN):
            _send_task(waiting.kind, waiting.subject)


def _work_in_thread(kind: str, subject: int, threads: threading.Semaphore) -> None:
    """Do this job and then other waiting ones of its kind, if a thread is free."""
    if not threads.acquire(blocking=False):
        return

    caused = copy_context()  # by a request, whose id goes with its own job only

    def work() -> None:
        try:
            caused.run(_run_if_free, kind, subject)
            while not _closing.is_set() and (waiting := waiting_jobs(kind)):
                _run_if_free(kind, waiting[0])
        except Exception:  # the next housekeeping starts a new thread
            logger.exception("A thread for %s stopped", kind)
        finally:
            connections.close_all()
            threads.release()

    # A daemon, so that a second signal can end the process at once.
    threading.Thread(target=work, name=f"{_THREAD}{kind}", daemon=True).start()


def _run_or_fail(run: JobRun, attempts: int, options: Mapping[str, Any]) -> str:
    """Do the work; unexpected errors fail the job. Returns ``ok`` or ``failed``."""
    kind = KINDS[run.kind]
    try:
        if attempts > MOST_ATTEMPTS and kind.fail is not None:
            raise LabelhubError(NO_PROGRESS)
        kind.work(run, **options)
    except (LeaseLost, Postponed, Interrupted, Unavailable, DatabaseError):
        raise
    except Exception as error:
        unforeseen = not isinstance(error, LabelhubError)
        logger.warning("%s %s failed: %s", run.kind, run.subject, error, exc_info=unforeseen)
        if kind.fail is None:
            raise Postponed(str(error), RETRY_AFTER) from error
        # If the subject is gone, the next attempt ends the job.
        with suppress(ObjectDoesNotExist), transaction.atomic():
            if run.rows().delete()[0]:
                kind.fail(run.subject, error)
        return "failed"
    return "ok"


def _refuse_when_closing() -> None:
    if _closing.is_set():
        raise Postponed("The server is stopping.")


def _release(run: JobRun, **fields: Any) -> None:
    free = {"lease_until": None, "lease_token": None, "sent_until": None, "message": ""}
    run.rows().update(**free | fields)


def _claim(run: JobRun) -> int:
    """Take the job by one conditional update, exclusive on every database. Returns its attempts
    since the last progress, or 0 if the job is not free."""
    rows = Job.objects.filter(kind=run.kind, subject=run.subject)
    until = timezone.now() + _lease(run.kind)
    if not rows.filter(_free()).update(
        lease_token=run.token, lease_until=until, attempts=F("attempts") + 1
    ):
        return 0
    return rows.values_list("attempts", flat=True).first() or 0


def _lease(kind: str) -> timedelta:
    return KINDS[kind].lease or LEASE


def _free() -> Q:
    """No worker holds the job, and no hold keeps workers from it."""
    outward = [name for name, kind in KINDS.items() if kind.outward]
    unleased = Q(lease_until=None) | Q(lease_until__lte=timezone.now())
    return unleased & (~Q(kind__in=outward) | Q(~Exists(Hold.objects.all())))


def _send_task(kind: str, subject: int) -> None:
    # Robust: without a broker this logs an error, and housekeeping sends the task again.
    transaction.on_commit(lambda: work_task.delay(kind, subject), robust=True)
