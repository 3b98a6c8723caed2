"""Looking at safe automation: what it costs, what it changes (nothing), what it gives away."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.agreement.automation import reach
from apps.agreement.automation.guarantee import KIND
from apps.agreement.automation.watching import watch
from apps.common.jobs import waiting_jobs
from apps.debates.models import Debate
from apps.debates.services import reroute
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import ItemState, Label
from apps.labels.services import record_label
from apps.projects.models import Item, Project
from tests.agreement.automation_world import answer, debated_project, decide, drawn, promised
from tests.debates.routing_world import debated
from tests.factories.labels import draft, open_several, person
from tests.factories.projects import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return debated_project(130)


def page(project: Project, role: Role = Role.VIEWER, path: str = "automation/") -> str:
    client = Client()
    client.force_login(member(project, role))
    body = client.get(f"/p/{project.slug}/{path}").content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def reading_all_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: Any) -> None:
        raise AssertionError("every debate of the project was read")

    monkeypatch.setattr(reach, "read_pool", read)
    monkeypatch.setattr(reach, "count_pool", read)
    monkeypatch.setattr("apps.agreement.automation.page.count_pool", read)


@pytest.mark.thorough
def test_a_page_with_a_verdict_reads_no_debates_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = drawn(project)
    answer(project, person(project))
    watch(made)
    reading_all_is_a_fault(monkeypatch)
    told = page(project)
    assert "What the sample showed" in told
    assert "How often each label occurs" in told


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
    watch(made)
    assert made.verdict is not None
    kept = made.verdict.pop(reach.REACH)
    made.save(update_fields=["verdict"])
    assert "What the sample showed" in page(project)
    made.refresh_from_db()
    assert made.verdict[reach.REACH] == kept
    reading_all_is_a_fault(monkeypatch)
    assert "What the sample showed" in page(project)


@pytest.mark.thorough
def test_who_looks_moves_no_item(project: Project) -> None:
    made = drawn(project)
    reroute(project)
    before = list(ItemState.objects.order_by("pk").values())
    page(project)
    assert list(ItemState.objects.order_by("pk").values()) == before
    watch(made)
    assert ItemState.objects.filter(reasons=ONLY_AUDITED).count() == len(made.sample)


@pytest.mark.thorough
def test_a_promise_that_broke_is_carried_out_in_the_background(
    project: Project,
) -> None:
    made, _, who = promised(project)
    for item in open_several(project, 8):
        debated(item, uncertainty=0.0, reasons=ONLY_AUDITED)
        record_label(draft(item, who, "bad"))
    assert "has ended" in page(project)
    made.refresh_from_db()
    assert (made.ending, made.applied, waiting_jobs(KIND)) == ("broken", False, [made.pk])


@pytest.mark.thorough
def test_the_page_says_how_many_are_decided_before_anybody_is_asked(project: Project) -> None:
    decide(list(Item.objects.filter(project=project).order_by("pk")))
    assert "0 blind labels" in page(project)
    assert "people have decided 130 already" in page(project)
    made = drawn(project)
    told = page(project)
    assert f"Already decided when the sample was drawn: {len(made.sample)} by gold" in told
    assert "What may be accepted" in told


def test_the_page_says_what_drops_out_and_how_to_avoid_it(project: Project) -> None:
    made = drawn(project)
    debate = Debate.objects.select_related("item").get(item=made.sample[0])
    led = {"proposed_from_id": debate.label_id, "action": Label.Action.ACCEPTED}
    record_label(draft(debate.item, person(project), "good", **led))
    told = page(project)
    assert "1 was labelled beside the suggestion after all" in told
    assert "label drawn items in the queue only" in told


def test_an_answer_that_cannot_be_told_waits_for_an_expert_and_the_page_says_so(
    project: Project,
) -> None:
    made = drawn(project)
    item = Item.objects.get(pk=made.sample[0])
    record_label(draft(item, person(project), None, abstained=True))
    assert "1 waits for an expert" in page(project)


def test_a_drawn_item_gives_a_reviewer_nothing_away_at_its_own_address(project: Project) -> None:
    made = drawn(project)
    at = f"items/{made.sample[0]}/"
    assert "ecj offline" in page(project, Role.VIEWER, at)
    assert "ecj offline" not in page(project, Role.REVIEWER, at)
