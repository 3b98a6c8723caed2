"""The operator's console: its first page, whom it lets in, jobs, runs and providers."""

from collections.abc import Iterator
from datetime import UTC, timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.console import OperatorAdmin
from apps.common.figures import share_words
from apps.common.jobs import KINDS, RETRY_AFTER, start_job, work_on
from apps.common.models import AuditEntry, Hold, Job, WorkerSign
from apps.debates.models import Run
from apps.llm.call_metrics import Use
from apps.llm.models import DailyUse, Provider
from apps.llm.services import add_use
from labelhub.admin import KINDS as JOB_KINDS
from labelhub.admin import job_page, list_jobs
from labelhub.console.overview import read_spending
from labelhub.worker import JOBS
from tests.factories.accounts import ApiKeyFactory, UserFactory, act_in_console, browser_of
from tests.factories.debates import project_with_items, started_run
from tests.factories.llm import ModelSpecFactory, ProviderFactory
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>\u202egnp"
#: Session and user; the gauges of jobs, workers and the audit log; spending; workers; failed jobs;
#: runs; people and who is locked out; keys; entries.
QUERIES = 14


@pytest.fixture
def operator() -> Client:
    return browser_of(UserFactory.create(username="root", is_superuser=True, is_staff=True))


def page_of(browser: Client, url: str = "/admin/") -> str:
    """A page's HTML."""
    return browser.get(url).content.decode()


def postpone(job_id: int, message: str = "") -> None:
    """As after an attempt that failed."""
    Job.objects.filter(pk=job_id).update(
        lease_until=timezone.now() + timedelta(hours=1), attempts=2, message=message
    )


def fill(number: int) -> None:
    """Rows of everything that the first page shows."""
    for _ in range(number):
        model = ModelSpecFactory.create(provider__base_url="http://127.0.0.1:9/v1")
        run = started_run(project_with_items(1), model=model)
        start_job("debates.run", run.pk)
        postpone(Job.objects.get(subject=run.pk, kind="debates.run").pk, "The disk is full.")
        add_use(model.provider, Use(10, 1000, 2_500_000_000, 7, 0))
        ApiKeyFactory.create(expires_at=timezone.now() + timedelta(days=3))
        WorkerSign.objects.create(process=f"box {run.pk}", queue="runs", seen_at=timezone.now())


def test_the_first_page_shows_all_in_a_fixed_number_of_queries(
    operator: Client, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(QUERIES):
        page_of(operator)
    fill(7)
    with django_assert_num_queries(QUERIES):
        page = page_of(operator)
    assert page.count("The disk is full.") == 2 * 5  # also as titles of cut lines
    assert page.count("$2.50") == 3 * 5
    assert share_words(0.7) in page
    assert "2 more providers" in page
    assert "box " in page


def test_only_the_days_on_which_a_price_was_unknown_cost_at_least_so_much() -> None:
    now = timezone.now()
    for name, ago, unpriced_today in (("early", 20, 0), ("late", 0, 1)):
        provider = ProviderFactory.create(name=name)
        day = now.astimezone(UTC).date() - timedelta(days=ago)
        DailyUse.objects.create(provider=provider, day=day, requests=1, unpriced=1)
        add_use(provider, Use(requests=1, cost_nanousd=10**9, unpriced=unpriced_today))
    day = now.astimezone(UTC).date() - timedelta(days=25)
    late = Provider.objects.get(name="late")
    DailyUse.objects.create(provider=late, day=day, requests=1, cost_nanousd=10**9)
    costs = {row["name"]: row["costs"] for row in read_spending(now)}
    assert costs == {
        "early": ["$1.00", "$1.00", "≥ $1.00"],
        "late": ["≥ $1.00", "≥ $1.00", "≥ $2.00"],
    }


def test_an_empty_installation_says_what_to_do(operator: Client) -> None:
    page = page_of(operator)
    assert "Start one: labelhub worker." in page
    assert "No model provider is set up." in page
    for name in ("job", "dailyuse", "run"):
        model = next(model for model in admin.site._registry if model._meta.model_name == name)
        words = admin.site.get_model_admin(model).empty_words  # type: ignore[attr-defined]
        assert str(words) in page_of(operator, f"/admin/{model._meta.app_label}/{name}/")


def test_it_opens_without_redis_workers_and_files(
    operator: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelhub.console.overview.redis_answers", lambda: False)
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    settings.DATA_DIR = settings.DATA_DIR / "gone"
    long_ago = timezone.now() - timedelta(minutes=7)
    WorkerSign.objects.create(process="box 1", queue="runs", seen_at=long_ago)
    answer = operator.get("/admin/")
    faults = {
        str(part.name): part.state for part in answer.context["parts"] if part.tone == "danger"
    }
    assert faults.keys() == {"Redis", "Workers", "Disk"}
    assert answer.context["unserved"] == ["interactive", "runs", "heavy"]


def test_a_restored_server_is_released_here(operator: Client) -> None:
    Hold.objects.create(since=timezone.now())
    page = page_of(operator)
    assert "Restored and held since" in page
    operator.post(reverse("release_hold"), {"next": "/admin/"})
    assert "Restored and held since" not in page_of(operator)


@pytest.fixture
def outsiders() -> Iterator[Client]:
    project = ProjectFactory.create()
    staff = UserFactory.create(is_staff=True)
    people = [staff, member(project, Role.MANAGER), member(project, Role.REVIEWER)]
    return iter([Client(), *map(browser_of, people)])


def test_only_operators_see_and_do_anything(outsiders: Iterator[Client]) -> None:
    fill(1)
    run, provider = Run.objects.get(), Provider.objects.get()
    user, job, key = UserFactory.create(), Job.objects.get(), ApiKeyFactory.create()
    entries = AuditEntry.objects.count()
    for browser in outsiders:
        for row, action in (
            (run, "cancel"), (provider, "pause"), (user, "deactivate"), (job, "retry"),
            (key, "revoke"),
        ):  # fmt: skip
            opts = row._meta
            url = f"/admin/{opts.app_label}/{opts.model_name}/"
            sent = {"action": action, "_selected_action": str(row.pk), "sure": "yes"}
            assert browser.post(url, sent).status_code in (302, 403)
            assert browser.get(url).status_code in (302, 403)
        assert browser.get("/admin/").status_code in (302, 403)
    assert AuditEntry.objects.count() == entries
    assert Run.objects.get().status == Run.Status.QUEUED


def test_pages_are_ours_and_write_by_services_alone(operator: Client) -> None:
    """Neither tables of libraries, nor audit rows, nor anything of the ledger can be changed."""
    names = {model._meta.model_name for model in admin.site._registry}
    assert names == {"user", "apikey", "run", "provider", "dailyuse", "job", "erasure"}
    for model, page in admin.site._registry.items():
        assert isinstance(page, OperatorAdmin)
        url = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert b"delete_selected" not in operator.get(url).content
        if model is not User:
            assert operator.get(f"{url}add/").status_code == 403
    assert operator.get("/admin/common/auditentry/").status_code == 404


def test_hostile_names_are_text(operator: Client) -> None:
    project = ProjectFactory.create(name=HOSTILE)
    provider = ProviderFactory.create(name=HOSTILE, project=project)
    user = UserFactory.create(username="ada", first_name=HOSTILE[:150])
    run = started_run(project_with_items(1), model=ModelSpecFactory.create(provider__name=HOSTILE))
    Run.objects.filter(pk=run.pk).update(message=HOSTILE)
    start_job("debates.run", run.pk)
    postpone(Job.objects.get().pk, HOSTILE)
    for url in (
        "/admin/", "/admin/common/job/", "/admin/debates/run/", "/admin/llm/provider/",
        "/admin/accounts/user/",
    ):  # fmt: skip
        page = page_of(operator, url)
        assert "alert(1)" in page
        assert "<script>alert" not in page
    for row, action in ((provider, "pause"), (user, "deactivate")):
        asked = act_in_console(operator, row, action)
        assert "<script>alert" not in page_of(operator, asked["Location"])


def test_every_kind_of_job_has_words_and_leads_to_its_project(operator: Client) -> None:
    assert JOB_KINDS.keys() == {name for name, kind in KINDS.items() if kind.work in JOBS}
    fill(1)
    job = list_jobs().get()
    run = Run.objects.get()
    assert job_page(job) == f"/p/{run.project.slug}/runs/{run.pk}/"
    assert operator.get(job_page(job)).status_code == 200
    start_job("labelhub.retention", 1)
    start_job("gone.kind", 1)
    assert [job_page(row) for row in list_jobs().order_by("-pk")[:2]] == ["", ""]
    assert "gone.kind" in page_of(operator, "/admin/common/job/")


def test_a_postponed_job_is_retried_once(operator: Client) -> None:
    start_job("labelhub.retention", 1)
    job = Job.objects.get()
    act_in_console(operator, job, "retry")
    assert not AuditEntry.objects.filter(action="job.retried").exists()  # it waits already
    postpone(job.pk)
    act_in_console(operator, job, "retry")
    act_in_console(operator, job, "retry")
    job.refresh_from_db()
    assert (job.lease_until, job.attempts) == (None, 0)
    assert AuditEntry.objects.filter(action="job.retried", actor__name="root").count() == 1


def test_a_running_job_is_left_to_its_worker(operator: Client) -> None:
    start_job("labelhub.retention", 1)
    token, until = "0" * 32, timezone.now() + timedelta(minutes=1)
    Job.objects.update(lease_token=token, lease_until=until)
    act_in_console(operator, Job.objects.get(), "retry")
    assert Job.objects.get().lease_until == until


def test_jobs_are_cancelled_where_that_leaves_nothing_half_done(operator: Client) -> None:
    fill(1)
    start_job("labelhub.retention", 1)
    start_job("debates.run", 99)  # whose run is deleted
    for job in Job.objects.all():
        act_in_console(operator, job, "cancel")
    assert "It is gone meanwhile." in page_of(operator)
    assert Run.objects.get().status == Run.Status.CANCELLED
    assert Job.objects.filter(kind="labelhub.retention").exists()


def test_a_job_without_a_way_to_fail_keeps_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_keep: object) -> None:
        raise ValueError("a value of somebody")

    monkeypatch.setattr("labelhub.retention.apply_rules", fail)
    work_on("labelhub.retention", 1)
    job = Job.objects.get()
    assert job.message == "It stopped because of a server error (ValueError)."
    assert job.lease_until is not None
    assert job.lease_until > timezone.now() + RETRY_AFTER / 2
    monkeypatch.undo()
    Job.objects.update(lease_until=None)
    work_on("labelhub.retention", 1)
    assert not Job.objects.exists()


def test_runs_are_paused_resumed_and_cancelled(operator: Client) -> None:
    run = started_run(project_with_items(1))
    for action, status in (("pause", "paused"), ("resume", "queued"), ("cancel", "cancelled")):
        act_in_console(operator, run, action)
        act_in_console(operator, run, action)
        run.refresh_from_db()
        assert run.status == status
    assert AuditEntry.objects.filter(action="run.changed", actor__name="root").count() == 3


def test_providers_are_paused_resumed_and_tested(operator: Client) -> None:
    provider = ProviderFactory.create(base_url="http://127.0.0.1:9/v1", test_failed=True)
    for action in ("pause", "pause", "resume", "resume"):
        act_in_console(operator, provider, action)
    rows = AuditEntry.objects.filter(action="provider.changed").order_by("pk")
    assert [row.changes for row in rows] == [{"paused": [False, True]}, {"paused": [True, False]}]
    tested = act_in_console(operator, provider, "test")
    assert "127.0.0.1" in page_of(operator, tested["Location"])
    provider.refresh_from_db()
    assert provider.state == "failing"


@pytest.mark.parametrize("right", ["is_superuser", "is_staff"])
def test_the_menu_leads_those_there_whom_it_lets_in(right: str) -> None:
    browser = browser_of(UserFactory.create(**{right: True}))
    lets_in = browser.get("/admin/").status_code == 200
    assert ('href="/admin/"' in page_of(browser, "/")) == lets_in
