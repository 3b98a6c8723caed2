"""Old data is deleted on schedule; what labels and reports need stays."""

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone
from pytest_django import Settings

from apps.common.audit import Action, check_chain, seal_entries
from apps.common.jobs import work_on
from apps.common.models import AuditEntry, Job
from apps.debates.models import Run, Turn
from apps.debates.selectors.experiments import turn_sums
from apps.exchange.models import SavedExport
from apps.exchange.webhooks.delivery_queue import KEPT, MOST_KEPT
from apps.projects.models import ImportBatch, Invitation, Notification
from labelhub import retention
from tests.factories.accounts import UserFactory, browser_of
from tests.factories.debates import finished_debate, project_with_items, started_run
from tests.factories.exchange import saved
from tests.factories.projects import ImportBatchFactory, invited, member_browser

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(days=400)
SAID = "The guest praises the breakfast."


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PAUSE", 0)


def ended_run() -> Run:
    """A run that ended long ago, with one debate."""
    run = started_run(project_with_items(1))
    finished_debate(run, {"annotator": "good"}, text=SAID)
    Run.objects.filter(pk=run.pk).update(status="done", finished_at=LONG_AGO)
    run.refresh_from_db()
    return run


def counts(capsys: pytest.CaptureFixture[str], *args: str) -> dict[str, Any]:
    call_command("apply_retention", "--json", *args)
    found = json.loads(capsys.readouterr().out)
    return found.get("would_go") or found.get("deleted") or {}


def test_what_is_past_its_schedule_goes_and_what_is_not_stays(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.LABELHUB_LOG_DAYS, settings.LABELHUB_EXPORT_DAYS = 90, 30
    settings.LABELHUB_TURN_DAYS, settings.LABELHUB_AUDIT_DAYS = 100, 300
    run = ended_run()
    project, user = run.project, UserFactory.create()
    browser_of(user)
    session = Session.objects.get()
    Session.objects.create(session_key="old", session_data="", expire_date=LONG_AGO)
    for key in ("old", "gone", session.session_key):
        UserSession.objects.create(
            user=user, session_key=key, ip="192.0.2.1", last_seen_at=LONG_AGO
        )
    for age in (LONG_AGO, timezone.now()):
        row = Notification.objects.create(
            user=user, project=project, kind="run", subject=age.year, began_at=age, outcome="done"
        )
        Notification.objects.filter(pk=row.pk).update(created_at=age)
        invited(project, link=str(age), expires_at=age)
        ImportBatchFactory.create(project=project, errors=[{"row": 1}], finished_at=age)
        SavedExport.objects.filter(pk=saved(project).pk).update(status="done", finished_at=age)
    seal_entries()
    expected = {
        "sessions": 1,
        "devices of sessions": 2,
        "notifications": 1,
        "invitations": 1,
        "import faults": 1,
        "saved exports": 1,
        "texts of runs": 1,
    }
    would_go = counts(capsys, "--dry-run")
    assert {name: n for name, n in would_go.items() if n} == expected
    assert counts(capsys) == expected
    assert Session.objects.get() == session
    assert UserSession.objects.get().session_key == session.session_key
    for model in (Notification, Invitation, SavedExport):
        assert model.objects.count() == 1, model
    assert [batch.errors for batch in ImportBatch.objects.order_by("pk")] == [[], [{"row": 1}]]
    recorded = AuditEntry.objects.filter(action=Action.RETENTION_APPLIED)
    assert set(recorded.values_list("subject_name", flat=True)) == set(expected)
    assert counts(capsys) == {}


def test_the_guide_says_what_is_deleted_when() -> None:
    """Each rule with its days and its setting; other rows are of schedules elsewhere."""
    guide = (settings.BASE_DIR / "docs/privacy.md").read_text()
    table = re.findall(r"^\| (.+?)(?:: .+?)? \| (.+?) \| (.+?) \|$", guide, re.MULTILINE)
    found = {what: (kept, setting) for what, kept, setting in table}
    rules = {rule.name: rule.kept for rule in retention.RULES} | {"audit log": retention.AUDIT_DAYS}
    faults = []
    for name, kept in rules.items():
        time = retention.keeping_time(kept)
        words = "for ever" if time is None else f"{time.days} days"
        shown, setting = found.get(name, ("", ""))
        fits = shown.startswith(words) or time == timedelta()
        if not fits or (f"`{kept}`" in setting) != isinstance(kept, str):
            faults.append(f"{name}: {words}, {kept}; the guide says {shown}, {setting}")
    assert faults == []
    assert f"the newest {settings.LABELHUB_SAVED_EXPORTS} only" in found["saved exports"][0]
    deliveries = f"{KEPT.days} days, and of a webhook the newest {MOST_KEPT:,} only"
    assert found["webhook deliveries"][0] == deliveries


def test_an_ended_run_keeps_answers_costs_and_times_without_its_texts(
    settings: Settings,
) -> None:
    settings.LABELHUB_TURN_DAYS = 100
    run = ended_run()
    before = list(turn_sums([run.pk]))
    verdicts = list(Turn.objects.values_list("value", "status", "cost_nanousd", "seconds"))
    assert retention.apply_rules() == {"texts of runs": 1}
    turn = Turn.objects.get()
    assert (turn.messages, turn.text, turn.reasoning, turn.call_key) == ([], "", "", "")
    assert list(turn_sums([run.pk])) == before
    assert list(Turn.objects.values_list("value", "status", "cost_nanousd", "seconds")) == verdicts
    browser = member_browser(run.project)
    debate = run.debates.get()
    for page in (f"debates/{debate.pk}/", f"debates/{debate.pk}/calls/"):
        shown = browser.get(f"/p/{run.project.slug}/{page}").content.decode()
        assert "was deleted on schedule" in shown
        assert SAID not in shown
        assert "good" in shown


@pytest.mark.parametrize("status", ["queued", "paused", "running"])
def test_a_run_that_goes_on_keeps_its_texts(settings: Settings, status: str) -> None:
    settings.LABELHUB_TURN_DAYS = 100
    Run.objects.filter(pk=ended_run().pk).update(status=status)
    assert retention.apply_rules() == {}


def test_a_failed_debate_that_may_be_resumed_keeps_its_turns(settings: Settings) -> None:
    settings.LABELHUB_TURN_DAYS = 100
    ended_run().debates.update(status="failed")
    assert retention.apply_rules() == {}


def test_the_audit_log_is_cut_and_stays_valid(settings: Settings) -> None:
    settings.LABELHUB_AUDIT_DAYS = 1
    browser_of(UserFactory.create())
    seal_entries()
    assert retention.apply_rules() == {}
    tomorrow = timezone.now() + timedelta(days=2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("labelhub.retention.timezone.now", lambda: tomorrow)
        assert retention.apply_rules()["audit log"] == 1
    seal_entries()
    check_chain()
    assert AuditEntry.objects.get().action == Action.LOG_CUT


def test_a_job_that_was_killed_goes_on_in_the_next_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "CHUNK", 2)
    for number in range(5):
        Session.objects.create(session_key=f"s{number}", session_data="", expire_date=LONG_AGO)

    class Killed(BaseException):
        """As a kill, nothing catches it."""

    def kill() -> None:
        raise Killed

    with pytest.raises(Killed):
        retention.apply_rules(kill)
    assert Session.objects.count() == 3
    assert retention.apply_rules() == {"sessions": 3}
    gone = AuditEntry.objects.filter(action=Action.RETENTION_APPLIED)
    assert sum(entry.changes["rows"][0] for entry in gone) == 5


def test_a_worker_starts_the_job_every_few_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_next_start", 0.0)
    retention.start_retention()
    retention.start_retention()
    assert Job.objects.get().kind == retention.KIND
    work_on(retention.KIND, 1)
    assert not Job.objects.exists()


def test_the_audit_log_is_checked_once_a_day_and_the_result_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results = AuditEntry.objects.filter(action__startswith="audit.").order_by("pk")
    browser_of(UserFactory.create())
    for _ in range(2):
        work_on(retention.KIND, 1)
    checked = results.get()
    assert (checked.action, checked.changes["number"][1]) == (Action.LOG_CHECKED, 1)
    tomorrow = timezone.now() + timedelta(days=1)
    monkeypatch.setattr("apps.common.audit.timezone.now", lambda: tomorrow)
    monkeypatch.setattr("apps.common.audit._hash", lambda *_: "another")
    work_on(retention.KIND, 1)
    assert not Job.objects.exists()
    broken = results.last()
    assert broken is not None
    assert (broken.action, broken.changes["message"][1]) == (
        Action.LOG_BROKEN, "Entry 1 was changed.",
    )  # fmt: skip
