"""Looking at safe automation: what it costs, what it changes (nothing), what it gives away."""

import re
from typing import Any

import pytest

from apps.accounts.roles import Role
from apps.agreement.automation import pool
from apps.agreement.automation.guarantee import watch_guarantee
from apps.debates.services import reroute
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import ItemState
from apps.projects.models import Project
from tests.agreement.automation_world import answer, debated_project, drawn, promised
from tests.factories.labels import person
from tests.factories.projects import member_browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return debated_project(130)


def page(project: Project, role: Role = Role.VIEWER, path: str = "automation/") -> str:
    client = member_browser(project, role)
    body = client.get(f"/p/{project.slug}/{path}").content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def reading_all_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: Any) -> None:
        raise AssertionError("every debate of the project was read")

    monkeypatch.setattr(pool, "read_pool", read)
    monkeypatch.setattr(pool, "count_pool", read)
    monkeypatch.setattr("apps.agreement.automation.page.count_pool", read)


@pytest.mark.thorough
def test_nor_does_one_of_a_promise_in_force_or_of_a_sample_that_waits(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = debated_project(130)
    promised(project)
    drawn(other)
    reading_all_is_a_fault(monkeypatch)
    assert "of the debated items were accepted" in page(project)
    assert "The sample waits for people" in page(other)


@pytest.mark.thorough
def test_a_verdict_of_before_its_reach_was_kept_gets_it_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = drawn(project)
    answer(project, person(project))
    watch_guarantee(made)
    assert made.verdict is not None
    kept = made.verdict.pop(pool.REACH)
    made.save(update_fields=["verdict"])
    assert "What the sample showed" in page(project)
    made.refresh_from_db()
    assert made.verdict[pool.REACH] == kept
    reading_all_is_a_fault(monkeypatch)
    assert "What the sample showed" in page(project)


@pytest.mark.thorough
def test_who_looks_moves_no_item(project: Project) -> None:
    made = drawn(project)
    reroute(project)
    before = list(ItemState.objects.order_by("pk").values())
    page(project)
    assert list(ItemState.objects.order_by("pk").values()) == before
    watch_guarantee(made)
    assert ItemState.objects.filter(reasons=ONLY_AUDITED).count() == len(made.sample)


def test_a_drawn_item_gives_a_reviewer_nothing_away_at_its_own_address(project: Project) -> None:
    made = drawn(project)
    path = f"items/{made.sample[0]}/"
    assert "ecj offline" in page(project, Role.VIEWER, path)
    assert "ecj offline" not in page(project, Role.REVIEWER, path)
