"""That no worker lives is told after a minute, and not before."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone

from apps.common import workers
from apps.common.models import WorkerSign
from apps.common.queues import HEAVY, INTERACTIVE, QUEUES
from apps.common.workers import expect_workers, serve_queues, worker_silence, write_heartbeat
from apps.debates.models import Run
from apps.debates.selectors import limited_by
from tests.factories.accounts import UserFactory
from tests.factories.debates import project_with_items, started_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process whose worker has shown no sign yet."""
    monkeypatch.setattr(workers, "_next_heartbeat", 0.0)


def age_sign(**by: float) -> None:
    WorkerSign.objects.update(seen_at=F("seen_at") - timedelta(**by))


def test_silence_counts_from_the_last_sign() -> None:
    assert worker_silence() == ""  # no server has started: nobody expects a worker
    write_heartbeat()
    assert worker_silence() == ""
    age_sign(seconds=59)
    assert worker_silence() == ""
    age_sign(minutes=2)
    assert worker_silence() == "2 minutes"


def test_a_server_that_never_had_a_worker_says_so() -> None:
    expect_workers()
    age_sign(minutes=10)
    expect_workers()  # another server: it is no worker either
    assert worker_silence() == "10 minutes"


def test_signs_are_written_every_ten_seconds_and_end_a_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expect_workers()
    age_sign(hours=1)
    write_heartbeat()
    assert worker_silence() == ""
    age_sign(hours=1)
    write_heartbeat()  # too early to write again
    assert worker_silence() != ""
    monkeypatch.setattr(workers, "_next_heartbeat", 0.0)
    write_heartbeat()
    assert worker_silence() == ""
    assert WorkerSign.objects.filter(process="").count() == len(QUEUES)
    assert WorkerSign.objects.exclude(process="").count() == len(workers.SERVED)


def test_each_queue_has_its_own_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SERVED", set(QUEUES))
    expect_workers()
    age_sign(minutes=3)
    serve_queues([INTERACTIVE])
    write_heartbeat()
    assert (worker_silence(), worker_silence(INTERACTIVE)) == ("", "")
    assert worker_silence(HEAVY) == "3 minutes"


def test_the_row_of_versions_with_one_for_all_queues_is_no_worker() -> None:
    WorkerSign.objects.create(seen_at=timezone.now())  # as they create it
    expect_workers()
    WorkerSign.objects.filter(queue="").update(seen_at=F("seen_at") + timedelta(hours=1))
    age_sign(minutes=2)
    assert worker_silence() == "2 minutes"


def test_the_overview_and_a_waiting_run_say_it(client: Client) -> None:
    project = project_with_items(1)
    client.force_login(UserFactory.create(is_superuser=True))
    run = started_run(project)
    Run.objects.filter(pk=run.pk).update(created_at=F("created_at") - timedelta(minutes=5))
    run.refresh_from_db()
    page = f"/p/{project.slug}/"
    write_heartbeat()
    assert "No worker is running" not in client.get(page).content.decode()
    age_sign(minutes=5)
    assert "No worker is running" in client.get(page).content.decode()
    assert limited_by(run) == (
        "No worker has been running for 5 minutes; the run continues once one is started."
    )
