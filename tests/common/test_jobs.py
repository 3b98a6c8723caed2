"""Long work: one worker at a time, to its end whatever is killed."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import TestCase
from django.utils import timezone

from apps.common import jobs
from apps.common.jobs import (
    KINDS,
    MOST_ATTEMPTS,
    Interrupted,
    JobRun,
    LeaseLost,
    Postponed,
    cancel_job,
    ensure_jobs,
    failure_message,
    job,
    resume_jobs,
    start_job,
    stop_all_jobs,
    waiting_jobs,
    work_on,
    work_task,
)
from apps.common.models import Job
from apps.common.queues import HEAVY, INTERACTIVE, QUEUES
from apps.common.workers import serve_queues
from apps.projects.models import Project
from labelhub import worker
from labelhub.celery import app
from labelhub.core.errors import Conflict, InvalidInput, Unavailable
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db
KIND = "tests.count"
WANTED = 3


class Counting:
    """Work in three chunks; each adds a letter to a project's description."""

    def __init__(self) -> None:
        self.project = ProjectFactory.create(description="")
        self.meanwhile: Callable[[int], object] = lambda _: None
        self.failed: list[str] = []

    def work(self, run: JobRun) -> None:
        project = Project.objects.get(pk=run.subject)
        while len(project.description) < WANTED:
            with run.chunk():
                project.description += "x"
                project.save()
                self.meanwhile(len(project.description))

    def fail(self, _: int, error: Exception) -> None:
        self.failed.append(failure_message(error, "Try again."))

    @property
    def done(self) -> int:
        return len(Project.objects.get(pk=self.project.pk).description)

    def run(self) -> None:
        work_on(KIND, self.project.pk)


@pytest.fixture
def counting() -> Iterator[Counting]:
    made = Counting()
    job(KIND, fail=made.fail)(made.work)
    start_job(KIND, made.project.pk)
    yield made
    del KINDS[KIND]


def raising(error: BaseException, place: int = 2) -> Callable[[int], None]:
    def meanwhile(done: int) -> None:
        if done == place:
            raise error

    return meanwhile


def lapse() -> None:
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))


def test_work_is_a_row_until_it_is_done(counting: Counting) -> None:
    assert waiting_jobs(KIND) == [counting.project.pk]
    counting.run()
    assert (counting.done, counting.failed) == (WANTED, [])
    assert not Job.objects.exists()
    work_task(KIND, counting.project.pk)  # its task comes again
    assert counting.done == WANTED


def test_after_a_kill_it_goes_on_behind_its_last_chunk(counting: Counting) -> None:
    counting.meanwhile = raising(SystemExit())
    with pytest.raises(SystemExit):
        counting.run()
    assert counting.done == 1
    assert waiting_jobs(KIND) == []  # its lease is still running
    counting.meanwhile = lambda _: None
    counting.run()
    assert counting.done == 1
    lapse()
    assert waiting_jobs(KIND) == [counting.project.pk]
    counting.run()
    assert counting.done == WANTED


def test_one_worker_at_a_time_is_at_it(counting: Counting) -> None:
    counting.meanwhile = lambda _: counting.run()
    counting.run()
    assert (counting.done, counting.failed) == (WANTED, [])


@pytest.mark.parametrize(
    "taken", [lambda: Job.objects.update(lease_token=None), lambda: Job.objects.all().delete()]
)
def test_a_worker_that_lost_the_job_writes_nothing(
    counting: Counting, taken: Callable[[], Any]
) -> None:
    counting.meanwhile = lambda _: taken()
    counting.run()
    assert (counting.done, counting.failed) == (0, [])


def test_work_that_is_asked_for_while_the_job_ends_is_done(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(run: JobRun) -> None:
        counting.work(run)
        Project.objects.update(description="")  # somebody undoes it at this moment
        start_job(KIND, counting.project.pk)

    KINDS[KIND] = jobs.Kind(work, counting.fail)
    counting.run()
    assert waiting_jobs(KIND) == [counting.project.pk]
    KINDS[KIND] = jobs.Kind(counting.work, counting.fail)
    counting.run()
    assert counting.done == WANTED


def test_work_that_goes_on_already_is_left_to_whoever_is_at_it(counting: Counting) -> None:
    counting.meanwhile = lambda _: ensure_jobs(KIND, [counting.project.pk])
    counting.run()
    assert (counting.done, Job.objects.count()) == (WANTED, 0)
    ensure_jobs(KIND, [counting.project.pk])
    assert waiting_jobs(KIND) == [counting.project.pk]


def test_the_last_chunk_ends_the_job_even_where_the_process_stops(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_closing", threading.Event())

    def work(run: JobRun) -> None:
        stop_all_jobs()
        with run.last_chunk():
            Project.objects.update(description="end")

    KINDS[KIND] = jobs.Kind(work, counting.fail)
    counting.run()
    assert (counting.done, waiting_jobs(KIND), Job.objects.count()) == (3, [], 0)


def test_a_cancelled_job_is_not_taken_up(counting: Counting) -> None:
    cancel_job(KIND, counting.project.pk)
    work_task(KIND, counting.project.pk)
    assert counting.done == 0


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (InvalidInput("Nothing fits."), "Nothing fits."),
        (
            ZeroDivisionError(),
            "It stopped because of a server error (ZeroDivisionError). Try again.",
        ),
    ],
)
def test_a_failure_is_told_and_ends_it(counting: Counting, error: Exception, words: str) -> None:
    counting.meanwhile = raising(error)
    counting.run()
    assert (counting.done, counting.failed) == (1, [words])
    assert not Job.objects.exists()


def test_a_kind_that_cannot_fail_is_tried_again(counting: Counting) -> None:
    KINDS[KIND] = jobs.Kind(counting.work)
    counting.meanwhile = raising(ZeroDivisionError(), place=1)
    for _ in range(MOST_ATTEMPTS + 2):
        counting.run()
        assert waiting_jobs(KIND) == []
        lapse()
    counting.meanwhile = lambda _: None
    counting.run()
    assert (counting.done, counting.failed) == (WANTED, [])


def test_a_fault_of_the_database_leaves_it_for_later(counting: Counting) -> None:
    counting.meanwhile = raising(OperationalError("database is locked"))
    with pytest.raises(OperationalError):
        counting.run()
    assert counting.failed == []
    assert waiting_jobs(KIND) == []
    until = Job.objects.get().lease_until
    assert until is not None
    assert until < timezone.now() + timedelta(seconds=11)
    assert Job.objects.get().attempts == 0  # it is tried again for as long as it takes


def test_work_that_is_postponed_waits_for_the_next_worker(counting: Counting) -> None:
    counting.meanwhile = raising(Postponed("Later."))
    counting.run()
    assert waiting_jobs(KIND) == [counting.project.pk]
    counting.meanwhile = raising(Postponed("Later.", timedelta(minutes=1)))
    counting.run()
    assert waiting_jobs(KIND) == []
    lapse()
    counting.meanwhile = raising(Unavailable("No place."))
    with pytest.raises(Unavailable):
        counting.run()
    assert waiting_jobs(KIND) == [counting.project.pk]
    assert counting.failed == []


def test_what_was_interrupted_is_tried_again_in_a_moment(counting: Counting) -> None:
    counting.meanwhile = raising(Interrupted("A process died."), place=1)
    counting.run()
    assert (counting.failed, waiting_jobs(KIND)) == ([], [])
    assert Job.objects.get().attempts == 1


def test_a_process_that_stops_lets_go_of_its_jobs(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_closing", threading.Event())
    counting.meanwhile = lambda _: stop_all_jobs()
    for _ in range(2 * MOST_ATTEMPTS):
        counting.run()
    assert (counting.done, counting.failed) == (1, [])
    assert waiting_jobs(KIND) == [counting.project.pk]


@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(120)
def test_threads_of_its_own_are_bounded_and_go_on_with_what_waits(counting: Counting) -> None:
    began, answer, worked = threading.Semaphore(0), threading.Event(), list[int]()

    def work(run: JobRun) -> None:
        worked.append(run.subject)
        began.release()
        assert answer.wait(60)

    job(KIND, threads=2)(work)
    others = [ProjectFactory.create().pk for _ in range(3)]
    ensure_jobs(KIND, others)
    resume_jobs()  # waits for nobody
    assert began.acquire(timeout=60)
    assert began.acquire(timeout=60)
    resume_jobs()
    threads = [thread for thread in threading.enumerate() if thread.name == f"job-{KIND}"]
    assert len(threads) == len(worked) == 2
    work_task(KIND, others[-1])  # a task for it came: it waits for a thread all the same
    assert len(worked) == 2
    answer.set()
    for thread in threads:
        thread.join(60)
    assert sorted(worked) == [counting.project.pk, *others]
    assert not Job.objects.exists()


def test_telling_how_things_are_is_no_progress(counting: Counting) -> None:
    run = JobRun(KIND, counting.project.pk)
    Job.objects.update(lease_token=run.token, attempts=3)
    with run.chunk(further=False):
        pass
    assert Job.objects.get().attempts == 3


def test_what_kills_its_workers_fails_in_the_end(counting: Counting) -> None:
    counting.meanwhile = raising(SystemExit(), place=1)
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            counting.run()
        lapse()
    counting.run()
    assert counting.failed == [jobs.NO_PROGRESS]


def test_progress_gives_it_new_attempts(counting: Counting) -> None:
    Job.objects.update(attempts=MOST_ATTEMPTS - 1)
    counting.meanwhile = raising(SystemExit())
    with pytest.raises(SystemExit):
        counting.run()
    assert Job.objects.get().attempts == 0


def test_a_subject_that_is_gone_ends_its_job(counting: Counting) -> None:
    counting.meanwhile = raising(Conflict("Gone."))

    def fail(subject: int, _: Exception) -> None:
        Project.objects.get(pk=subject + 1)

    KINDS[KIND] = jobs.Kind(counting.work, fail)
    counting.run()
    assert counting.done == 1


def test_a_lease_is_renewed_between_chunks_that_take_long(
    counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = JobRun(KIND, counting.project.pk)
    Job.objects.update(lease_token=run.token)
    run.keep()
    assert Job.objects.get().lease_until is None
    monkeypatch.setattr(jobs, "LEASE", timedelta())
    run.keep()
    assert Job.objects.get().lease_until is not None
    cancel_job(KIND, counting.project.pk)
    with pytest.raises(LeaseLost):
        run.keep()


def test_a_task_is_sent_again_where_no_worker_took_the_job_up(
    counting: Counting,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., Any],
    django_assert_num_queries: Any,
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(work_task, "delay", lambda _, subject: sent.append(subject))

    def resume() -> list[int]:
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            resume_jobs()
        return list(sent)

    with django_assert_num_queries(1):
        assert resume() == []  # one is on its way
    Job.objects.update(sent_until=timezone.now() - timedelta(seconds=1))
    assert resume() == [counting.project.pk]
    assert resume() == []
    Job.objects.update(sent_until=None, lease_until=timezone.now() + timedelta(minutes=1))
    assert resume() == []  # somebody is at it


def test_a_worker_knows_every_kind_of_job() -> None:
    assert resume_jobs in worker.KEEPERS
    assert set(KINDS) == {
        "agreement.look_after", "debates.run", "echo.learn", "exchange.import",
        "exchange.import_project", "exchange.save_export",
        "exchange.webhook", "learning.clear_ranks", "learning.train",
        "labelhub.retention", "projects.mail", "reviews.bulk",
        "reviews.change_labels", "reviews.first_filter", "reviews.requeue",
    }  # fmt: skip
    assert {kind.work for kind in KINDS.values()} == set(worker.JOBS)


def test_tasks_go_to_the_queue_of_their_kind(counting: Counting) -> None:
    job(KIND, queue=HEAVY)(counting.work)
    route = app.amqp.router.route
    assert route({}, work_task.name, (KIND, 1))["queue"].name == HEAVY
    assert route({}, work_task.name, ("projects.mail", 1))["queue"].name == INTERACTIVE
    assert route({}, "authors.ask_about", (1,))["queue"].name == INTERACTIVE
    # Each worker that is not told otherwise serves all.
    assert set(app.amqp.queues.consume_from) == set(QUEUES)


def test_a_worker_starts_no_thread_for_a_queue_that_others_serve(
    counting: Counting, sent_jobs: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "SERVED", set())
    job(KIND, threads=1, queue=HEAVY)(counting.work)
    Job.objects.update(sent_until=None)
    serve_queues([INTERACTIVE])
    with TestCase.captureOnCommitCallbacks(execute=True):
        resume_jobs()
    assert sent_jobs == [(KIND, counting.project.pk)]
    assert not [thread for thread in threading.enumerate() if thread.name == f"job-{KIND}"]
