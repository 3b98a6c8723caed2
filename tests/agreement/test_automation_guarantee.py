"""A promise from the drawing of its sample to its end, on a project that is labelled for it."""

from typing import Any

import pytest

from apps.accounts.roles import Role
from apps.agreement.automation.guarantee import (
    State,
    end_guarantee,
    live_guarantee,
    settle_items,
    switch_off,
    switch_on,
)
from apps.agreement.automation.page import automation_state
from apps.agreement.automation.sample import queue_sample, sample_of
from apps.agreement.models import Guarantee
from apps.debates.models import Debate
from apps.debates.selectors import rule_of
from apps.debates.services import change_routing_rule, reroute
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import VIEW_UNKNOWN, ItemState, Label
from apps.labels.services import record_label
from apps.projects.models import Project
from apps.reviews.queue.plan import change_review_plan
from labelhub.core.agreement.risk_control import upper_bound
from labelhub.core.debate.routing import Rule
from labelhub.core.errors import Conflict
from tests.agreement.automation_world import (
    all_wrong,
    answer,
    debated_project,
    drawn,
    promised,
)
from tests.factories.labels import draft, person
from tests.factories.projects import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return debated_project()


def test_the_drawn_items_wait_for_people_who_are_asked_blind(project: Project) -> None:
    made = drawn(project)
    assert len(made.sample) == 122
    audited = ItemState.objects.filter(project=project, reasons=ONLY_AUDITED)
    assert set(audited.values_list("item_id", flat=True)) == set(made.sample)
    assert audited.filter(queued=False).count() == 0


def test_items_of_the_sample_that_somebody_was_led_on_are_dropped(project: Project) -> None:
    made = drawn(project)
    debates = Debate.objects.select_related("item").filter(item__in=made.sample[:3])
    for place, debate in enumerate(debates.order_by("item_id")):
        ways: list[dict[str, Any]] = [
            {"proposed_from_id": debate.label_id, "action": Label.Action.FIXED},
            {"shown_id": debate.label_id},
            {"provenance": {VIEW_UNKNOWN: True}},
        ]
        record_label(draft(debate.item, person(project), "bad", **ways[place]))
    answer(project, person(project))
    found = sample_of(made)
    assert (found.led, len(found.known), found.pending) == (sorted(made.sample[:3]), 119, [])
    on = switch_on(made, actor=member(project, Role.MANAGER))
    assert (on.calibrated, on.errors) == (119, 0)


def test_nothing_is_judged_before_the_whole_sample_is_decided(project: Project) -> None:
    made, who = drawn(project), person(project)
    answer(project, who, most=121)
    found = automation_state(project)
    assert found.verdict is None
    assert not found.rows
    with pytest.raises(Conflict, match="People have yet to decide 1 of the 122"):
        switch_on(made, actor=member(project, Role.MANAGER))
    answer(project, who)
    assert automation_state(project).chosen is not None


def test_switching_on_sets_rule_plan_and_row_and_routes_the_items(project: Project) -> None:
    made, manager, _ = promised(project)
    assert (made.state, made.applied, made.switched_on_by) == (State.ON, True, manager)
    assert made.bound is not None
    assert made.accepted is not None
    assert made.upper == upper_bound(0, made.accepted)
    assert made.upper <= made.target
    project.refresh_from_db()
    assert project.review_scope == Project.ReviewScope.DOUBTFUL
    rule = rule_of(project)
    assert rule.bounds["uncertainty"] == made.bound
    assert rule.audit == made.audit == 0.1
    sent = ItemState.objects.filter(project=project, queued=True).exclude(reasons=ONLY_AUDITED)
    beyond = Debate.objects.filter(run__project=project, uncertainty__gte=made.bound)
    answered = ItemState.objects.filter(labels_by_people__gt=0).values("item_id")
    assert sent.count() == beyond.exclude(item__in=answered).count()
    assert made.coverage == pytest.approx(1 - beyond.count() / 200)


def test_a_sample_with_too_many_errors_switches_nothing_on(project: Project) -> None:
    made = drawn(project)
    answer(project, person(project), all_wrong)
    with pytest.raises(Conflict, match="does not prove the promise"):
        switch_on(made, actor=member(project, Role.MANAGER))
    assert automation_state(project).failure.startswith(
        "Too many items were wrong at the first bound"
    )
    project.refresh_from_db()
    assert project.review_scope == Project.ReviewScope.ALL


def test_switching_off_brings_rule_and_plan_back(project: Project) -> None:
    before = Rule(frozenset({"tie"}), {"uncertainty": 0.9}, 0.2)
    manager = member(project, Role.MANAGER)
    change_routing_rule(project=project, actor=manager, rule=before)
    change_review_plan(project=project, review_scope="doubtful")
    made, _, _ = promised(project)
    assert rule_of(project) != before
    assert switch_off(made, actor=manager)
    settle_items(made)
    project.refresh_from_db()
    assert (rule_of(project), project.review_scope) == (before, "doubtful")
    assert (made.state, made.ending, made.ended_by) == ("off", "switched_off", manager)
    assert live_guarantee(project) is None


def test_there_is_one_promise_at_a_time(project: Project) -> None:
    drawn(project)
    with pytest.raises(Conflict, match="has a sample or a promise already"):
        drawn(project)


@pytest.mark.thorough
def test_a_rule_changed_since_the_drawing_wants_a_new_sample(project: Project) -> None:
    made, manager = drawn(project), member(project, Role.MANAGER)
    answer(project, person(project))
    change_routing_rule(project=project, actor=manager, rule=Rule(frozenset({"tie"})))
    with pytest.raises(Conflict, match="rule has been changed since"):
        switch_on(made, actor=manager)


def test_a_sample_that_a_changed_rule_took_out_of_the_queue_comes_back(project: Project) -> None:
    made = drawn(project)
    reroute(project)
    assert not ItemState.objects.filter(reasons=ONLY_AUDITED).exists()
    assert queue_sample(made) == 122


def test_what_a_kill_left_undone_is_carried_out_later(project: Project) -> None:
    made, manager, _ = promised(project)
    switch_off(made, actor=manager)
    assert not made.applied  # killed here: the row says what is to be done
    settle_items(Guarantee.objects.get(pk=made.pk))
    settle_items(Guarantee.objects.get(pk=made.pk))
    queued = ItemState.objects.filter(project=project, queued=True).count()
    assert queued == ItemState.objects.filter(project=project, labels_by_people=0).count()


def test_of_two_who_end_a_promise_one_does(project: Project) -> None:
    made, manager, _ = promised(project)
    other = Guarantee.objects.get(pk=made.pk)
    assert end_guarantee(made, Guarantee.Ending.BROKEN, counts=(9, 3))
    assert not end_guarantee(other, Guarantee.Ending.SWITCHED_OFF, actor=manager)
    assert (other.ending, other.audits, other.audit_errors) == ("broken", 9, 3)
    project.refresh_from_db()
    assert project.review_scope == Project.ReviewScope.ALL


@pytest.mark.thorough
def test_of_two_who_switch_on_one_does(project: Project) -> None:
    made, manager, _ = promised(project)
    stale = Guarantee.objects.get(pk=made.pk)
    stale.state = State.DRAWN
    with pytest.raises(Conflict, match=r"used or discarded meanwhile|rule has been changed"):
        switch_on(stale, actor=manager)
