"""``/metrics``: who may read it, what it costs, and what it says while things are broken."""

import asyncio
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
import yaml
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from environ import Env
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from apps.common import metric_files
from apps.common.audit import Action, record, seal_entries
from apps.common.metric_files import SlotsCollector
from apps.common.metrics import COUNTED, bounded
from apps.common.models import Job, WorkerSign
from apps.common.queues import RUNS
from apps.debates.models import Run
from apps.reviews.models import Slot
from labelhub.observe import endpoint, state
from labelhub.observe.endpoint import listen_for_scrapes, refuse_scrape, serve_metrics
from labelhub.observe.requests import observe_requests
from labelhub.settings import logs
from labelhub.web.asgi_types import Message
from tests.factories.agreement import run_of
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a-token-that-is-long-enough"
BEARER = {"authorization": f"Bearer {TOKEN}"}
LOCAL = ["127.0.0.1/32", "10.0.0.0/8", "fd00::/8"]
#: Statements of a scrape, whatever the data: whether the database answers, eight aggregates, the
#: times of the oldest items, the end of the audit log's chain, also after entries were deleted, and
#: whether the server is held; around each reader a transaction.
STATEMENTS = 15


@pytest.mark.parametrize(
    ("token", "networks", "address", "headers", "status"),
    [
        # Nothing set: there is nothing here, also for this machine (a proxy on it is everybody).
        ("", [], "127.0.0.1", {}, 404),
        ("", [], "127.0.0.1", BEARER, 404),
        # A token.
        (TOKEN, [], "203.0.113.5", BEARER, 200),
        (TOKEN, [], "203.0.113.5", {"authorization": f"bearer  {TOKEN} "}, 200),
        (TOKEN, [], "203.0.113.5", BEARER | {"x-forwarded-for": "1.2.3.4"}, 200),
        (TOKEN, [], "127.0.0.1", {}, 401),
        (TOKEN, [], "127.0.0.1", {"authorization": f"Token {TOKEN}"}, 401),
        (TOKEN, [], "127.0.0.1", {"authorization": "Bearer ä"}, 401),
        (TOKEN, [], "127.0.0.1", {"authorization": "Bearer "}, 401),
        ("", [], "127.0.0.1", {"authorization": "Bearer "}, 404),
        # Networks: straight from there only.
        ("", LOCAL, "127.0.0.1", {}, 200),
        ("", LOCAL, "10.1.2.3", {}, 200),
        ("", LOCAL, "fd00::1", {}, 200),
        ("", LOCAL, "::ffff:10.1.2.3", {}, 200),
        ("", LOCAL, "203.0.113.5", {}, 404),
        ("", LOCAL, "", {}, 404),
        ("", LOCAL, "nonsense", {}, 404),
        ("", LOCAL, "127.0.0.1", {"x-forwarded-for": "127.0.0.1"}, 404),
        ("", LOCAL, "127.0.0.1", {"forwarded": "for=127.0.0.1"}, 404),
        ("", LOCAL, "127.0.0.1", {"x-real-ip": "127.0.0.1"}, 404),
        ("", LOCAL, "127.0.0.1", {"via": "1.1 proxy"}, 404),
        # Both: either is enough, but a wrong token is not forgiven.
        (TOKEN, LOCAL, "127.0.0.1", {}, 200),
        (TOKEN, LOCAL, "203.0.113.5", BEARER, 200),
        (TOKEN, LOCAL, "127.0.0.1", {"authorization": "Bearer wrong"}, 401),
    ],
)  # fmt: skip
def test_who_may_scrape(
    settings: Any, token: str, networks: list[str], address: str, headers: dict[str, str],
    status: int,
) -> None:  # fmt: skip
    settings.LABELHUB_METRICS_TOKEN, settings.LABELHUB_METRICS_NETWORKS = token, networks
    refusal = refuse_scrape(address, headers)
    assert (refusal.status if refusal else 200) == status
    if refusal and status == 401:
        assert refusal.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("read", "env"),
    [
        (logs.metrics_token, {"LABELHUB_METRICS_TOKEN": "short"}),
        (logs.metrics_networks, {"LABELHUB_METRICS_NETWORKS": "10.0.0.0/8,office"}),
        (logs.metrics_listener, {"LABELHUB_WORKER_METRICS": "9108"}),
        (logs.metrics_listener, {"LABELHUB_WORKER_METRICS": "0.0.0.0:99999"}),
    ],
)
def test_settings_that_would_not_work_are_refused(read: Any, env: dict[str, str]) -> None:
    with pytest.raises(ImproperlyConfigured, match=next(iter(env))):
        read(type("Reader", (Env,), {"ENVIRON": env})())


def test_a_listener_of_a_worker_may_have_any_kind_of_address() -> None:
    def read(address: str) -> Any:
        env = {"LABELHUB_WORKER_METRICS": address}
        return logs.metrics_listener(type("Reader", (Env,), {"ENVIRON": env})())

    assert read("") is None
    assert read("[::]:9108") == ("::", 9108)
    assert read("10.0.0.9:9108") == ("10.0.0.9", 9108)


async def _elsewhere(_scope: Message, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def scrape(method: str = "GET", path: str = "/metrics", **headers: str) -> tuple[int, str]:
    """Status and body for a caller elsewhere."""
    scope = {
        "type": "http", "method": method, "path": path, "client": ("203.0.113.5", 1),
        "headers": [(name.encode(), text.encode()) for name, text in headers.items()],
    }  # fmt: skip
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(observe_requests(serve_metrics(_elsewhere))(scope, None, send))  # type: ignore[arg-type]
    return sent[0]["status"], sent[1]["body"].decode()


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch, settings: Any) -> endpoint.DatabaseGauges:
    """A process that has read no numbers yet, with a token and without Redis."""
    settings.LABELHUB_METRICS_TOKEN, settings.REDIS_URL = TOKEN, ""
    if not any(process.pid == os.getpid() for process in metric_files.live_processes()):
        # A test before had another data folder, which has the slot.
        monkeypatch.setattr(metric_files, "_claim", metric_files._Claim())
    metric_files.claim_slot()
    registry, found = CollectorRegistry(), endpoint.DatabaseGauges()
    for collector in (SlotsCollector(), endpoint.MachineGauges(), found):
        registry.register(collector)
    monkeypatch.setattr(endpoint, "SHOWN", registry)
    return found


def numbers(text: str) -> Mapping[str, float]:
    return {
        f"{sample.name}{sorted(sample.labels.values())}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.mark.django_db(transaction=True)
def test_other_addresses_and_methods(fresh: endpoint.DatabaseGauges) -> None:
    assert scrape(path="/metrics/")[0] == 204
    assert scrape(path="/p/")[0] == 204
    assert scrape("POST", **BEARER)[0] == 405
    assert scrape()[0] == 401
    assert scrape("HEAD", **BEARER) == (200, "")


@pytest.mark.django_db(transaction=True)
def test_the_queue_and_the_workers(fresh: endpoint.DatabaseGauges) -> None:
    now = timezone.now()
    project = ProjectFactory.create()
    first, second, _ = queued_items(project, 3)
    first.created_at = now - timedelta(hours=2)
    first.save()
    Slot.objects.create(
        project=project, item=first, number=1, lease_until=now + timedelta(minutes=9)
    )
    Slot.objects.create(project=project, item=second, number=1, lease_until=now)
    WorkerSign.objects.create(queue=RUNS, seen_at=now - timedelta(minutes=3))

    status, text = scrape(**BEARER)
    found = numbers(text)
    assert status == HTTPStatus.OK
    assert found["labelhub_database_up[]"] == 1
    assert found["labelhub_queue_items['all']"] == 3
    assert 7200 <= found["labelhub_queue_oldest_seconds['all']"] < 7300
    assert found["labelhub_leases_active[]"] == 1
    assert 180 <= found["labelhub_worker_heartbeat_age_seconds['runs']"] < 280
    assert found["labelhub_messages_waiting[]"] == 0
    assert found["labelhub_disk_free_bytes[]"] > 0
    assert any(name.startswith("labelhub_process_resident_memory_bytes") for name in found)


@pytest.mark.django_db(transaction=True)
def test_jobs_and_runs(fresh: endpoint.DatabaseGauges) -> None:
    now = timezone.now()
    ago, later, token = now - timedelta(minutes=5), now + timedelta(hours=1), "0" * 32
    for kind, subject, until, lease in (
        ("a", 1, None, None), ("a", 2, ago, token), ("a", 3, later, None), ("b", 1, later, token),
    ):  # fmt: skip
        Job.objects.create(kind=kind, subject=subject, lease_until=until, lease_token=lease)
    project = ProjectFactory.create()
    for fields in (
        {"status": Run.Status.RUNNING, "budget_nanousd": 100, "cost_nanousd": 95},
        {"status": Run.Status.PAUSED, "pause_code": "budget", "budget_nanousd": None},
        {"status": Run.Status.DONE, "budget_nanousd": 100, "cost_nanousd": 100},
    ):
        Run.objects.filter(pk=run_of(project).pk).update(**fields)

    found = numbers(scrape(**BEARER)[1])
    assert found["labelhub_jobs['a', 'waiting']"] == 2
    assert found["labelhub_jobs['a', 'postponed']"] == 1
    assert found["labelhub_jobs['b', 'running']"] == 1
    assert 300 <= found["labelhub_job_oldest_waiting_seconds['a']"] < 400
    assert found["labelhub_runs['', 'running']"] == 1
    assert found["labelhub_runs['budget', 'paused']"] == 1
    assert found["labelhub_run_budget_used_ratio[]"] == 0.95


@pytest.mark.django_db(transaction=True)
def test_the_chain_of_the_audit_log(fresh: endpoint.DatabaseGauges) -> None:
    for _ in range(2):
        with transaction.atomic():
            record(Action.PROJECT_CHANGED)
    seal_entries()
    with transaction.atomic():
        record(Action.PROJECT_CHANGED)
    found = numbers(scrape(**BEARER)[1])
    assert found["labelhub_audit_head[]"] == 2
    assert 0 < found["labelhub_audit_unchained_seconds[]"] < 100


@pytest.mark.django_db
@pytest.mark.parametrize("items", [0, 40])
def test_a_scrape_asks_the_database_a_fixed_number_of_questions(items: int) -> None:
    project = ProjectFactory.create()
    queued_items(project, items)
    Job.objects.bulk_create([Job(kind=f"k{n}", subject=n) for n in range(items)])
    with CaptureQueriesContext(connection) as asked:
        endpoint.read_database()
    around = ("SAVEPOINT", "RELEASE", "SET LOCAL")
    own = [query["sql"] for query in asked if not query["sql"].startswith(around)]
    # There are no oldest items to look at where there are none.
    assert len(own) == (STATEMENTS if items else STATEMENTS - 1)


@pytest.mark.django_db(transaction=True)
def test_many_scrapes_read_once(
    fresh: endpoint.DatabaseGauges, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []

    def read() -> list[Any]:
        reads.append(1)
        return []

    monkeypatch.setattr(endpoint, "read_database", read)
    for _ in range(5):
        scrape(**BEARER)
    assert len(reads) == 1


def test_without_the_database_the_rest_is_shown(
    fresh: endpoint.DatabaseGauges, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(endpoint, "read_database", away)
    status, text = scrape(**BEARER)
    assert (status, numbers(text)["labelhub_database_up[]"]) == (200, 0)
    assert "labelhub_disk_free_bytes" in text
    assert "labelhub_queue_items{" not in text
    monkeypatch.setattr(endpoint, "read_database", list)
    assert numbers(scrape(**BEARER)[1])["labelhub_database_up[]"] == 1


def test_a_database_that_hangs_holds_up_no_scrape(
    fresh: endpoint.DatabaseGauges, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = threading.Event()
    monkeypatch.setattr(fresh._reading, "_patience", 0.05)
    monkeypatch.setattr(endpoint, "read_database", lambda: back.wait(20) and [])
    for _ in range(3):
        assert numbers(scrape(**BEARER)[1])["labelhub_database_up[]"] == 0
    back.set()
    monkeypatch.setattr(fresh._reading, "_patience", 20)
    monkeypatch.setattr(fresh._reading, "_until", 0.0)  # as after its pause
    assert numbers(scrape(**BEARER)[1])["labelhub_database_up[]"] == 1


@pytest.mark.django_db
def test_one_number_that_cannot_be_read_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_now: Any) -> Iterator[Any]:
        connection.cursor().execute("SELECT nothing FROM nowhere")
        yield

    monkeypatch.setattr(endpoint, "READERS", (broken, state._workers))
    assert [metric.name for metric in endpoint.read_database()] == [
        "labelhub_worker_heartbeat_age_seconds",
        "labelhub_held",
    ]
    assert [record.getMessage() for record in caplog.records] == ["Metrics: broken failed"]


@pytest.mark.parametrize("answers", [True, False])
def test_redis_and_the_bucket_are_shown_where_they_are_used(
    settings: Any, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    settings.REDIS_URL = settings.LABELHUB_FILES_URL = ""
    parts = {"labelhub_redis_up", "labelhub_files_up"}
    assert not parts & {metric.name for metric in endpoint.MachineGauges().collect()}
    settings.REDIS_URL, settings.LABELHUB_FILES_URL = "redis://x", "s3://x"
    for ask in ("redis_answers", "bucket_answers"):
        monkeypatch.setattr(endpoint, ask, lambda: answers)
    found = {metric.name: metric for metric in endpoint.MachineGauges().collect()}
    assert {found[name].samples[0].value for name in parts} == {float(answers)}


@pytest.mark.django_db(transaction=True)
def test_a_machine_with_workers_only_shows_the_same_by_the_same_rules(
    fresh: endpoint.DatabaseGauges, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    server = listen_for_scrapes("127.0.0.1", 0)
    assert server is not None
    port = server.server_address[1]

    def get(path: str, **headers: str) -> int:
        request = Request(f"http://127.0.0.1:{port}{path}", headers=headers)
        try:
            with urlopen(request) as response:  # noqa: S310 - ours
                text = response.read().decode()
                assert "labelhub_database_up 1.0" in text
                return int(response.status)
        except OSError as error:
            return int(getattr(error, "code", 0))

    assert get("/metrics", Authorization=f"Bearer {TOKEN}") == 200
    assert get("/metrics") == 401
    assert get("/other", Authorization=f"Bearer {TOKEN}") == 404
    assert listen_for_scrapes("127.0.0.1", port) is None
    assert "cannot listen" in caplog.text
    server.shutdown()
    server.server_close()


def test_a_worker_listens_at_addresses_of_either_kind() -> None:
    for host in ("127.0.0.1", "::1", "::"):
        server = listen_for_scrapes(host, 0)
        assert server is not None, host
        server.shutdown()
        server.server_close()


def test_a_scraper_that_leaves_is_no_error(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    server = listen_for_scrapes("127.0.0.1", 0)
    assert server is not None
    for error in (BrokenPipeError(), ValueError("ours")):
        try:
            raise error
        except (OSError, ValueError):
            server.handle_error(None, None)  # type: ignore[arg-type]  # neither is used
    assert [record.getMessage() for record in caplog.records] == ["Metrics: a scrape failed"]
    # What the library prints of every error.
    assert "Exception occurred" not in capsys.readouterr().err
    server.shutdown()
    server.server_close()


def test_names_that_people_choose_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.common.metrics._names", set())
    monkeypatch.setattr("apps.common.metrics.MOST_NAMES", 2)
    assert bounded("a", "m") == ("a", "m")
    assert bounded("b", "m") == ("b", "m")
    assert bounded("c", "m") == ("other", "other")
    assert bounded("a", "m") == ("a", "m")


def shown_names(text: str) -> set[str]:
    """The names that a query may use: of series, with the suffixes of their types."""
    suffixes = {"histogram": ("_bucket", "_count", "_sum"), "counter": ("_total",)}
    found = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        base = name.removesuffix("_total")
        found |= {base + suffix for suffix in suffixes.get(kind, ("",))}
    return found


@pytest.fixture
def names(
    fresh: endpoint.DatabaseGauges, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> set[str]:
    """All that ``/metrics`` can show: what is counted, and what a scrape really says."""
    settings.REDIS_URL, settings.LABELHUB_FILES_URL = "redis://127.0.0.1:9/0", "s3://x"
    monkeypatch.setattr(endpoint, "bucket_answers", lambda: False)
    WorkerSign.objects.create(queue=RUNS, seen_at=timezone.now())
    counted = {
        line.split()[2]: line.split()[3]
        for line in generate_latest(COUNTED).decode().splitlines()
        if line.startswith("# TYPE")
    }
    text = "\n".join(f"# TYPE {name} {kind}" for name, kind in counted.items())
    found = shown_names(text + "\n" + scrape(**BEARER)[1])
    return {name for name in found if name.startswith("labelhub_")}


NAME = re.compile(r"\blabelhub_[a-z_]+\b")


@pytest.mark.django_db(transaction=True)
def test_dashboard_and_alerts_use_names_that_exist(names: set[str]) -> None:
    dashboard = json.loads((ROOT / "deploy/observe/dashboard.json").read_text())
    targets = [target for panel in dashboard["panels"] for target in panel.get("targets", ())]
    rules = yaml.safe_load((ROOT / "deploy/observe/alerts.yml").read_text())["groups"][0]["rules"]
    queries = [target["expr"] for target in targets] + [rule["expr"] for rule in rules]
    assert len(targets) > 30
    assert len(rules) > 15
    used = {name for query in queries for name in NAME.findall(query)}
    assert used - names == set()
    for rule in rules:
        assert len(rule["annotations"]["runbook"]) > 60, rule["alert"]
        words = " ".join(rule["annotations"].values())
        assert set(NAME.findall(words)) - names - {"labelhub_job_attempts_total"} == set()


@pytest.mark.django_db(transaction=True)
def test_the_guide_explains_exactly_what_is_shown(names: set[str]) -> None:
    guide = (ROOT / "docs/observe.md").read_text()
    table = set(re.findall(r"^\| `(labelhub_[a-z_]+)`", guide, re.MULTILINE))
    series = {re.sub(r"_(bucket|count|sum)$", "", name) for name in names}
    assert table == series
    rules = yaml.safe_load((ROOT / "deploy/observe/alerts.yml").read_text())["groups"][0]["rules"]
    for rule in rules:
        assert f"`{rule['alert']}`" in guide
