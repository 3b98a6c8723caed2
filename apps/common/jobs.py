"""Long work, carried out chunk by chunk, by one worker at a time, to its end whatever is killed.

    @job("reviews.requeue", fail=fail_requeue)
    def requeue_chunks(run: JobRun) -> None:
        requeue = Requeue.objects.get(pk=run.subject)
        while labels := next_labels(requeue):
            with run.chunk():               # commits together with the lease, or not at all
                withdraw(labels, requeue)
        with run.last_chunk():              # commits together with the end of the job
            end(requeue)

    start_job("reviews.requeue", requeue.pk)    # in the transaction that asks for the work
    work_on("reviews.requeue", requeue.pk)      # here and now; else a worker takes it up

A job is a row as long as there is work to do. How far the work has got and how it ended stands
with its subject. The database is the truth: a task of Celery only wakes a worker, and whoever keeps
house sends another where it was lost (:func:`resume_jobs`).
"""

import logging
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from celery import shared_task
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, connections, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from apps.common.models import Job
from labelhub.core.errors import LabelhubError, Unavailable

logger = logging.getLogger(__name__)

#: A worker that shows no sign of life for so long has died.
LEASE = timedelta(seconds=60)
#: After a fault of the database a job is free again for the next worker that looks.
RETRY_AFTER = timedelta(seconds=10)
#: A task that no worker has taken up after so long is sent once more.
SEND_AGAIN = timedelta(seconds=20)
#: Taken up so often without getting further, a job fails: something about it kills its workers.
MOST_ATTEMPTS = 4
NO_PROGRESS = "It was taken up several times and never got any further; the server's log says why."


class LeaseLost(LabelhubError):
    """Another worker has the job now, or it was cancelled; what this one held is rolled back."""

    code = "lease_lost"


class Postponed(LabelhubError):
    """The job is not done and nothing is wrong: the next worker that looks takes it up, but not
    within ``wait``."""

    code = "postponed"

    def __init__(self, message: str, wait: timedelta = timedelta()) -> None:
        super().__init__(message)
        self.wait = wait


class Interrupted(LabelhubError):
    """Something that the job needs broke: it is tried again in a moment, a few times."""

    code = "interrupted"


Fail = Callable[[int, Exception], None]
Work = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Kind:
    """``work`` carries a job out; ``fail`` writes how it failed, in a transaction of its own.
    Without it a job cannot fail: it is tried again in a moment, for as long as it takes.

    ``threads`` are those of its own that a process has for the kind, if it has any. A worker that
    shows no sign of life for ``lease`` has died.
    """

    work: Work
    fail: Fail | None = None
    threads: threading.Semaphore | None = None
    lease: timedelta | None = None


KINDS: dict[str, Kind] = {}
_closing = threading.Event()
#: What was put off steps back behind those who wait.
_TURNS = (F("lease_until").asc(nulls_first=True), "pk")
_THREAD = "job-"


def job(
    name: str,
    *,
    fail: Fail | None = None,
    threads: int = 0,
    lease: timedelta | None = None,
) -> Callable[[Work], Work]:
    """Register a function that carries out jobs of the kind ``name``.

    It is called with a :class:`JobRun` and must go on from wherever the subject has got to: it is
    called again after a kill. For a subject that is gone or over it returns at once.
    ``threads``: it is carried out in so many threads of each worker process that are the kind's
    own: it waits for no other work, lets none wait, and no process works on more at once.
    ``lease``: where it is not :data:`LEASE`.
    """

    def register(work: Work) -> Work:
        KINDS[name] = Kind(work, fail, threading.Semaphore(threads) if threads else None, lease)
        return work

    return register


@dataclass(slots=True)
class JobRun:
    """One worker's turn at a job; ``token`` is that of its lease."""

    kind: str
    subject: int
    token: uuid.UUID = field(default_factory=uuid.uuid4)
    _renewed: float = field(default_factory=time.monotonic)

    @contextmanager
    def chunk(self, *, further: bool = True, closing: bool = False) -> Iterator[None]:
        """A transaction that commits only as long as the job is ours; it renews the lease.

        ``further=False``: it only tells how things are, and the job's attempts go on counting.
        ``closing=True``: also where this process is about to end, for what was paid already.

        Raises:
            LeaseLost: it is not ours any more.
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
        """As :meth:`chunk`, and the job is over; also where this process is about to end.

        Raises:
            LeaseLost: it is not ours any more.
        """
        with transaction.atomic():
            self._lock()
            yield
            self.rows().delete()

    def keep(self) -> None:
        """Renew the lease in time, between chunks that take long.

        Raises:
            LeaseLost: the job is not ours any more.
            Postponed: this process is about to end.
        """
        _refuse_when_closing()
        if time.monotonic() - self._renewed > _lease(self.kind).total_seconds() / 3:
            self.renew()

    def renew(self, **fields: Any) -> None:
        """Renew the lease.

        Raises:
            LeaseLost: the job is not ours any more.
        """
        if not self.rows().update(lease_until=timezone.now() + _lease(self.kind), **fields):
            raise LeaseLost(f"The job {self.kind} {self.subject} is not ours any more.")
        self._renewed = time.monotonic()

    def rows(self) -> QuerySet[Job]:
        """The job's row, as long as it is ours."""
        return Job.objects.filter(kind=self.kind, subject=self.subject, lease_token=self.token)

    def _lock(self) -> None:
        # Before its subject, as whoever cancels it: two that wait for each other would both fail.
        if self.rows().select_for_update().values_list("pk").first() is None:
            raise LeaseLost(f"The job {self.kind} {self.subject} is not ours any more.")


def start_job(kind: str, subject: int, *, send: bool = True) -> None:
    """Have a worker carry out the work.

    ``send=False`` is for those who call :func:`work_on` themselves at once.
    """
    sent = timezone.now() + SEND_AGAIN
    rows = Job.objects.filter(kind=kind, subject=subject)
    # A worker that has seen the work before as done, and is just ending the job, loses it.
    if not rows.update(lease_token=None, lease_until=None, sent_until=sent, attempts=0):
        Job.objects.get_or_create(kind=kind, subject=subject, defaults={"sent_until": sent})
    if send:
        _send(kind, subject)


def wake_job(kind: str, subject: int) -> None:
    """As :func:`start_job`, but whoever is at the job keeps it; one put off goes on now."""
    Job.objects.get_or_create(kind=kind, subject=subject)
    Job.objects.filter(kind=kind, subject=subject, lease_token=None).update(lease_until=None)
    _send(kind, subject)


def ensure_jobs(kind: str, subjects: Collection[int]) -> None:
    """As :func:`start_job`, for those who keep house: a job that is there goes on as it is."""
    there = Job.objects.filter(kind=kind, subject__in=subjects) if subjects else Job.objects.none()
    known = set(there.values_list("subject", flat=True))
    for subject in subjects:
        if subject not in known:
            Job.objects.get_or_create(kind=kind, subject=subject)


def cancel_job(kind: str, subject: int) -> None:
    """Stop the work: whoever is at it writes nothing more."""
    Job.objects.filter(kind=kind, subject=subject).delete()


def waiting_jobs(kind: str) -> list[int]:
    """The subjects that wait for a worker, whoever has waited longest first."""
    free = Job.objects.filter(_free(), kind=kind)
    return list(free.order_by(*_TURNS).values_list("subject", flat=True))


def work_on(kind: str, subject: int, **options: Any) -> None:
    """Carry the work out, from where it had got to. Safe to call at any time, in any process.

    A job that another worker holds is left alone. How it ended is for its subject to tell; only
    faults of the database and of capacity are raised, after which it is taken up again.

    Raises:
        Unavailable: there is no room for it just now.
    """
    Job.objects.get_or_create(kind=kind, subject=subject)
    _take_up(kind, subject, options)


def _take_up(kind: str, subject: int, options: Mapping[str, Any] | None = None) -> None:
    """Carry out a job that is there, unless somebody is at it."""
    run = JobRun(kind, subject)
    attempts = _claim(run)
    if not attempts:
        return
    try:
        _carry_out(run, attempts, options or {})
    except LeaseLost:
        logger.warning("%s %s was taken over or cancelled", kind, subject)
    except Postponed as error:
        _let_go(run, attempts=0, lease_until=timezone.now() + error.wait)
    except Interrupted as error:
        logger.warning("%s %s was interrupted: %s", kind, subject, error.message)
        _let_go(run, lease_until=timezone.now() + RETRY_AFTER)
    except Unavailable:
        _let_go(run, attempts=0)
        raise
    except DatabaseError:  # no fault of the job's
        one_less = Greatest(F("attempts") - 1, 0)
        _let_go(run, lease_until=timezone.now() + RETRY_AFTER, attempts=one_less)
        raise
    else:
        run.rows().delete()


def fault_words(error: Exception, words: str) -> str:
    """What people are told of a failure: the message of an error that speaks to them, else
    ``words`` with the fault's name for ``{fault}``."""
    if isinstance(error, LabelhubError):
        return error.message
    return words.format(fault=f"a fault of the server ({type(error).__name__})")


@shared_task(name="common.work")
def work_task(kind: str, subject: int) -> None:
    """Carry out a job; one that has ended meanwhile is left alone."""
    if threads := KINDS[kind].threads:
        _work_in_thread(kind, subject, threads)
    else:
        _take_up(kind, subject)


def stop_all_jobs() -> None:
    """Ask what is worked on in this process to stop soon; other workers take it up."""
    _closing.set()


def is_closing() -> bool:
    """Whether this process is about to end."""
    return _closing.is_set()


def await_threads() -> None:
    """Wait for the threads of kinds that have their own, after :func:`stop_all_jobs`."""
    for thread in threading.enumerate():
        if thread.name.startswith(_THREAD):
            thread.join()


def resume_jobs() -> None:
    """See to it that a worker takes up every job that nobody is at. Cheap, safe in several
    processes; only for workers, since jobs with threads of their own are taken up here."""
    now = timezone.now()
    threads = {name: kind.threads for name, kind in KINDS.items() if kind.threads}
    unsent = Job.objects.filter(_free()).filter(
        Q(sent_until=None) | Q(sent_until__lte=now) | Q(kind__in=threads)
    )
    for waiting in unsent.order_by(*_TURNS):
        if waiting.kind in threads:
            _work_in_thread(waiting.kind, waiting.subject, threads[waiting.kind])
        elif unsent.filter(pk=waiting.pk).update(sent_until=now + SEND_AGAIN):
            _send(waiting.kind, waiting.subject)


def _work_in_thread(kind: str, subject: int, threads: threading.Semaphore) -> None:
    """Begin with that job and go on with what waits of its kind, if there is a thread to spare."""
    if not threads.acquire(blocking=False):
        return

    def work() -> None:
        try:
            waiting = [subject]
            while waiting and not _closing.is_set():
                _take_up(kind, waiting[0])
                waiting = waiting_jobs(kind)
        except Exception:  # the next round takes them up in a new thread
            logger.exception("A thread for %s stopped", kind)
        finally:
            connections.close_all()
            threads.release()

    # A daemon, though it is waited for: a process that is ordered to end at once shall.
    threading.Thread(target=work, name=f"{_THREAD}{kind}", daemon=True).start()


def _carry_out(run: JobRun, attempts: int, options: Mapping[str, Any]) -> None:
    """Whatever else goes wrong fails the job."""
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
        # A subject that is gone says nothing; the next turn ends its job.
        with suppress(ObjectDoesNotExist), transaction.atomic():
            if run.rows().delete()[0]:
                kind.fail(run.subject, error)


def _refuse_when_closing() -> None:
    if _closing.is_set():
        raise Postponed("The server is being stopped.")


def _let_go(run: JobRun, **fields: Any) -> None:
    free = {"lease_until": None, "lease_token": None, "sent_until": None}
    run.rows().update(**free | fields)


def _claim(run: JobRun) -> int:
    """How often the job was taken up since it last got further; 0 where it is not to be had. One
    conditional update: exclusive on every database."""
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
    return Q(lease_until=None) | Q(lease_until__lte=timezone.now())


def _send(kind: str, subject: int) -> None:
    # Robust: a broker that is down is logged, and the task is sent again by those who keep house.
    transaction.on_commit(lambda: work_task.delay(kind, subject), robust=True)
