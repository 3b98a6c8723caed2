"""A failing model, a killed worker, a Redis that goes away: runs end as if nothing had been."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.fakes.client import Client, Refused
from tests.fakes.stack import Program, run_of, wait_until_done, wait_until_past
from tests.services.conftest import Site

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]

ITEMS = 120
NewWorker = Callable[[], Program]


def slow_down(site: Site, seconds: float) -> None:
    """Let each call take so long that a run lasts some seconds."""
    site.models.options.latency = seconds


def said(site: Site, run: int) -> list[tuple[Any, ...]]:
    """(item, status, value) of the run's debates."""
    return site.stack.rows(
        "SELECT i.external_id, d.status, l.value FROM debates_debate d "  # noqa: S608 - a number
        "JOIN projects_item i ON i.id = d.item_id LEFT JOIN labels_label l ON l.id = d.label_id "
        f"WHERE d.run_id = {run:d} ORDER BY 1"
    )


def steps(site: Site, run: int) -> list[tuple[Any, ...]]:
    """(item, step, attempt, answer) of the run's turns."""
    return site.stack.rows(
        "SELECT i.external_id, t.step, t.attempt, t.text FROM debates_turn t "  # noqa: S608 - the same
        "JOIN debates_debate d ON d.id = t.debate_id JOIN projects_item i ON i.id = d.item_id "
        f"WHERE d.run_id = {run:d} ORDER BY 1, 2, 3"
    )


def test_a_run_through_a_failing_endpoint_loses_nothing(site: Site, new_worker: NewWorker) -> None:
    site.models.options.faults = {
        "rate_limit_ms": 0.05, "rate_limit_bare": 0.02, "unavailable": 0.05, "malformed": 0.03,
    }  # fmt: skip
    site.models.options.retry_after = 0.05
    slug = site.project(ITEMS)
    new_worker()
    run = site.run(slug, "ecj")

    progress = wait_until_done(site.b, run, seconds=120)["progress"]

    outcomes = site.models.stats["outcomes"]
    assert {"ok", "rate_limit_ms", "rate_limit_bare", "unavailable", "malformed"} <= set(outcomes)
    assert (progress["done"], progress["failed"], progress["waiting"]) == (ITEMS, 0, 0)
    calm = site.project(ITEMS)
    site.models.reset()
    again = site.run(calm, "ecj")
    wait_until_done(site.b, again)
    assert said(site, run) == said(site, again)


def test_another_worker_finishes_what_a_killed_one_began(site: Site, new_worker: NewWorker) -> None:
    slow_down(site, 0.4)
    first = new_worker()
    calm = site.run(site.project(ITEMS), "ecj")
    wait_until_done(site.a, calm)

    run = site.run(site.project(ITEMS), "ecj")
    wait_until_past(site.a, run, 10)
    first.kill()
    assert run_of(site.b, run)["status"] == "running"
    second = new_worker()
    wait_until_done(site.b, run)

    assert said(site, run) == said(site, calm)
    assert steps(site, run) == steps(site, calm)
    assert second.stop() == 0


def test_many_workers_do_nothing_twice(site: Site, new_worker: NewWorker) -> None:
    slow_down(site, 0.05)
    runs = [site.run(site.project(60), "ecj") for _ in range(3)]
    for _ in range(2):
        new_worker()
    for run in runs:
        assert wait_until_done(site.a, run)["progress"]["turns"] == 3 * 60
    assert site.models.stats["requests"] == 3 * 3 * 60


def test_a_worker_is_stopped_within_a_run_and_another_goes_on(
    site: Site, new_worker: NewWorker
) -> None:
    slow_down(site, 0.4)
    first = new_worker()
    run = site.run(site.project(ITEMS), "ecj")
    wait_until_past(site.a, run, 10)
    assert first.stop(seconds=10) == 0
    assert run_of(site.a, run)["status"] == "running"
    new_worker()
    assert wait_until_done(site.a, run)["progress"]["turns"] == 3 * ITEMS
    assert site.models.stats["requests"] == 3 * ITEMS


def refusal_of(client: Client, path: str, data: bytes | None = None) -> tuple[int, bytes]:
    """The status and body of a request that is refused."""
    with pytest.raises(Refused) as refused:
        client.send(path, data, "application/json" if data is not None else "")
    return refused.value.status, refused.value.body


def test_without_a_worker_everything_that_waits_says_so(site: Site, new_worker: NewWorker) -> None:
    first = new_worker()
    wait_until_done(site.a, site.run(site.project(5), "single"))
    first.stop()
    run = site.run(site.project(5), "single")
    site.stack.age("common_workersign", "seen_at", minutes=2)
    site.stack.age("debates_run", "created_at", minutes=2)
    status, health = site.a.health()
    assert (status, health["parts"]["worker"]) == (200, "none for 2 minutes")
    assert "No worker has been running" in run_of(site.b, run)["progress"]["limited_by"]
    new_worker()
    wait_until_done(site.b, run)
    assert site.a.health()[1]["parts"]["worker"] == "ok"


def test_the_database_may_go_away_and_come_back(site: Site) -> None:
    slug = site.project(3)
    with site.stack.database_away():
        listing = refusal_of(site.a, "/api/v1/projects/")
        claiming = refusal_of(site.a, f"/api/v1/projects/{slug}/next/", b"{}")
        for status, body in (listing, claiming):
            assert status == 503
            assert json.loads(body)["retryable"] is True
            assert "database cannot be reached" in json.loads(body)["detail"]
        assert site.b.health()[0] == 503
    assert site.a.get("projects/")["count"] >= 1
    assert site.b.health()[0] == 200


def test_redis_may_go_away_and_come_back(site: Site, new_worker: NewWorker) -> None:
    slow_down(site, 0.4)
    new_worker()
    run = site.run(site.project(ITEMS), "ecj")
    wait_until_past(site.a, run, 10)

    site.redis.kill()
    try:
        for client in (site.a, site.b):
            status, health = client.health()
            assert (status, health["status"]) == (200, "degraded")
            assert health["parts"]["redis"] == "not reachable"
            assert client.get("projects/")["count"] >= 1
            assert Client(client.address).sign_in("boss", "boss")
        meanwhile = site.run(site.project(20), "single")
    finally:
        site.redis.start()

    assert wait_until_done(site.b, run)["progress"]["turns"] == 3 * ITEMS
    assert wait_until_done(site.b, meanwhile, seconds=90)["progress"]["done"] == 20
    assert site.a.health()[0] == 200
