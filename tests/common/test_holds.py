"""A restored server starts nothing that others would notice, until an operator releases it."""

import pytest
from django.test import Client, TestCase

from apps.common.holds import held_since, hold, release_hold
from apps.common.jobs import KINDS, JobRun, job, resume_jobs, start_job, waiting_jobs, work_on
from apps.common.models import AuditEntry, Job
from apps.debates.models import Run
from apps.debates.selectors import limited_by
from labelhub import worker
from tests.factories.accounts import UserFactory
from tests.factories.debates import project_with_items, started_run

pytestmark = pytest.mark.django_db
OUTWARD, INWARD = "tests.outward", "tests.inward"


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The jobs that were done, of two kinds: one that others would notice, and one of our own."""
    monkeypatch.setattr("apps.common.jobs.KINDS", KINDS.copy())
    found: list[str] = []

    def work(run: JobRun) -> None:
        found.append(run.kind)

    job(OUTWARD, outward=True)(work)
    job(INWARD)(work)
    return found


def test_a_held_server_does_its_own_jobs_and_keeps_those_that_others_would_notice(
    done: list[str], sent_jobs: list[tuple[str, int]]
) -> None:
    hold()
    for kind in (OUTWARD, INWARD):
        start_job(kind, 1, send=False)
    Job.objects.update(sent_until=None)
    assert (waiting_jobs(OUTWARD), waiting_jobs(INWARD)) == ([], [1])
    with TestCase.captureOnCommitCallbacks(execute=True):
        resume_jobs()
    assert sent_jobs == [(INWARD, 1)]
    for kind in (OUTWARD, INWARD):
        work_on(kind, 1)
    assert done == [INWARD]
    assert release_hold()
    assert waiting_jobs(OUTWARD) == [1]
    work_on(OUTWARD, 1)
    assert done == [INWARD, OUTWARD]


def test_runs_webhooks_mails_and_deletions_are_what_others_would_notice() -> None:
    assert {name for name, kind in KINDS.items() if kind.outward} == {
        "debates.run", "exchange.webhook", "projects.mail", "labelhub.retention",
    }  # fmt: skip


def test_a_held_worker_lives_and_seals_the_audit_log_and_starts_no_schedule() -> None:
    housekeeping = worker.Housekeeping(worker.KEEPERS, 1)
    assert housekeeping._due_keepers() == worker.KEEPERS
    hold()
    kept = {keeper.__name__ for keeper in housekeeping._due_keepers()}
    assert kept == {"write_heartbeat", "seal_entries", "resume_jobs"}


def test_holding_twice_keeps_the_first_moment_and_releasing_twice_is_recorded_once() -> None:
    hold()
    first = held_since()
    hold()
    assert held_since() == first
    assert [release_hold(), release_hold()] == [True, False]
    assert held_since() is None
    assert AuditEntry.objects.filter(action="hold.released").count() == 1


def test_pages_say_it_and_operators_release_it(client: Client) -> None:
    project = project_with_items(1)
    run = started_run(project)
    Run.objects.filter(pk=run.pk).update(created_at="2026-01-01T00:00Z")
    run.refresh_from_db()
    hold()
    assert "restored from a backup" in limited_by(run)
    client.force_login(UserFactory.create())
    assert client.post("/hold/release/").status_code == 403
    assert held_since()
    client.force_login(UserFactory.create(is_superuser=True))
    page = f"/p/{project.slug}/"
    assert "Release it in Administration" in client.get(page).content.decode()
    assert client.post("/hold/release/", {"next": page}).headers["Location"] == page
    assert held_since() is None
    assert "Release it in Administration" not in client.get(page).content.decode()
