"""A promise in force is watched, and ends by itself when it no longer holds."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone

from apps.accounts.models import User
from apps.agreement.automation.guarantee import (
    KIND,
    State,
    audit_of,
    keep_guarantees,
    live_guarantee,
    settle_items,
    switch_off,
    watch_guarantee,
)
from apps.agreement.models import Guarantee
from apps.common.jobs import waiting_jobs, work_on
from apps.common.models import Job
from apps.debates.models import Debate, RoutingRule
from apps.debates.selectors import rule_of
from apps.debates.services import change_routing_rule
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Annotator, ItemState, Label
from apps.labels.services import record_label
from apps.projects.models import Item, Project
from apps.reviews.queue.plan import change_review_plan
from labelhub.core.agreement.risk_control import audit_bound
from labelhub.core.debate.routing import Rule
from tests.agreement.automation_world import answer, debate_more, debated_project, promised
from tests.debates.routing_world import debated, run_of
from tests.factories.labels import draft, queued_items

pytestmark = pytest.mark.django_db


@pytest.fixture
def force() -> tuple[Guarantee, User, Annotator]:
    """A promise of at most 10 % wrong, in force on a project of 150 items."""
    return promised(debated_project(150))


def audited(project: Project, count: int) -> list[Item]:
    """New items that were accepted, and chosen for the audit as the rule would choose them."""
    items = list(queued_items(project, count))
    for item in items:
        debated(item, uncertainty=0.0, reasons=ONLY_AUDITED)
    return items


def say(items: list[Item], who: Annotator, errors: int) -> None:
    """A person answers; of the first so many the debate was wrong."""
    for number, item in enumerate(items):
        record_label(draft(item, who, "bad" if number < errors else "good"))


@pytest.mark.thorough
def test_the_sample_is_no_part_of_the_stream(force: tuple[Guarantee, User, Annotator]) -> None:
    made, _, _ = force
    assert ItemState.objects.filter(reasons=ONLY_AUDITED, labels_by_people__gt=0).exists()
    assert audit_of(made).n == 0


def test_answers_since_are_judged_in_their_order(
    force: tuple[Guarantee, User, Annotator],
) -> None:
    made, _, who = force
    items = audited(made.project, 12)
    say(items[6:], who, 2)
    say(items[:6], who, 0)
    direct = audit_bound([True, True] + [False] * 10, made.target, made.confidence)
    assert audit_of(made) == direct
    assert direct.broken_at == 2, "in another order there would be no alarm"


@pytest.mark.thorough
def test_led_answers_and_earlier_ones_do_not_count(
    force: tuple[Guarantee, User, Annotator],
) -> None:
    made, _, who = force
    first, second, *_ = items = audited(made.project, 3)
    led = {"proposed_from_id": first.labels.get().pk, "action": Label.Action.FIXED}
    record_label(draft(first, who, "bad", **led))
    record_label(draft(second, who, "bad"))
    Guarantee.objects.filter(pk=made.pk).update(switched_on_at=timezone.now())
    made.refresh_from_db()
    record_label(draft(items[2], who, "bad"))
    assert (audit_of(made).n, audit_of(made).errors) == (1, 1)


def test_a_debate_that_errs_more_is_caught_and_everything_goes_back_to_people(
    force: tuple[Guarantee, User, Annotator],
) -> None:
    made, _, who = force
    project = made.project
    before = debate_more(project, 20, uncertainty=0.0)
    say(audited(project, 12), who, 8)
    watch_guarantee(made)
    settle_items(made)
    assert (made.state, made.ending, made.applied) == ("off", "broken", True)
    assert (made.audits, made.audit_errors, made.ended_by) == (12, 8, None)
    project.refresh_from_db()
    assert project.review_scope == Project.ReviewScope.ALL
    assert rule_of(project) == Rule()
    assert RoutingRule.objects.get(project=project).changed_by is None
    waiting = ItemState.objects.filter(project=project, queued=True)
    assert {item.pk for item in before} <= set(waiting.values_list("item_id", flat=True))
    assert waiting.count() == ItemState.objects.filter(labels_by_people=0).count()


@pytest.mark.thorough
def test_a_promise_that_is_kept_stays_however_often_one_looks(
    force: tuple[Guarantee, User, Annotator],
) -> None:
    made, _, who = force
    for _ in range(5):
        say(audited(made.project, 10), who, 1)
        watch_guarantee(made)
        settle_items(made)
    assert made.state == State.ON
    assert audit_of(made).n == 50


def test_a_run_by_another_set_up_suspends_the_promise(
    force: tuple[Guarantee, User, Annotator],
) -> None:
    made, _, _ = force
    run_of(made.project, spec_hash="b" * 64, trial=True)
    run_of(made.project, spec_hash="a" * 64)
    watch_guarantee(made)
    assert made.state == State.ON
    run_of(made.project, spec_hash="b" * 64)
    watch_guarantee(made)
    made.project.refresh_from_db()
    assert (made.ending, made.project.review_scope) == ("other_debates", "all")


def test_a_rule_changed_by_hand_ends_the_promise_and_stays_as_it_is(
    force: tuple[Guarantee, User, Annotator],
) -> None:
    made, manager, _ = force
    kept = rule_of(made.project)
    more = Rule(kept.flags, kept.bounds, 0.4)
    change_routing_rule(project=made.project, actor=manager, rule=more)
    watch_guarantee(made)
    assert made.state == State.ON, "more audits are no other rule"
    looser = Rule(kept.flags, {}, 0.4)
    change_routing_rule(project=made.project, actor=manager, rule=looser)
    watch_guarantee(made)
    assert (made.ending, made.applied) == ("rule_changed", True)
    assert rule_of(made.project) == looser


def test_a_plan_changed_by_hand_ends_it(force: tuple[Guarantee, User, Annotator]) -> None:
    made, _, _ = force
    change_review_plan(project=made.project, review_scope="all")
    watch_guarantee(made)
    assert made.ending == "plan_changed"


def test_what_is_live_or_undone_is_a_job(force: tuple[Guarantee, User, Annotator]) -> None:
    made, manager, who = force
    Job.objects.all().delete()
    keep_guarantees()
    assert waiting_jobs(KIND) == [made.pk]
    say(audited(made.project, 12), who, 8)
    work_on(KIND, made.pk)
    made.refresh_from_db()
    assert (made.ending, made.applied) == ("broken", True)
    Job.objects.update(lease_until=None)
    work_on(KIND, made.pk)
    keep_guarantees()
    assert not Job.objects.exists(), "what is over and carried out needs nobody"
    Guarantee.objects.update(applied=False)
    keep_guarantees()
    assert waiting_jobs(KIND) == [made.pk]
    work_on(KIND, made.pk + 1)  # one that is gone
    assert not switch_off(made, actor=manager)


@pytest.mark.thorough
def test_looking_costs_as_many_queries_for_more_answers(
    force: tuple[Guarantee, User, Annotator], django_assert_num_queries: pytest.FixtureRequest
) -> None:
    made, _, who = force
    for _ in range(2):
        say(audited(made.project, 8), who, 0)
        made = Guarantee.objects.select_related("project").get(pk=made.pk)
        with django_assert_num_queries(9):  # type: ignore[operator]
            watch_guarantee(made)


@pytest.mark.thorough
@pytest.mark.django_db(transaction=True)
def test_several_who_find_it_broken_at_once_end_it_once() -> None:
    made, _, who = promised(debated_project(130))
    say(audited(made.project, 12), who, 8)
    together = threading.Barrier(3)

    def check() -> None:
        try:
            found = Guarantee.objects.select_related("project").get(pk=made.pk)
            together.wait(10)
            watch_guarantee(found)
            settle_items(found)
        finally:
            connection.close()

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(check) for _ in range(3)]:
            done.result(60)
    made.refresh_from_db()
    assert (made.state, made.ending, made.applied) == ("off", "broken", True)
    assert live_guarantee(made.project) is None
    assert not Debate.objects.filter(reasons=["uncertain"]).exists()
    settle_items(made)
    assert answer(made.project, who) == 0


def test_fewer_audits_than_were_promised_end_it(force: tuple[Guarantee, User, Annotator]) -> None:
    made, manager, _ = force
    kept = rule_of(made.project)
    change_routing_rule(
        project=made.project, actor=manager, rule=Rule(kept.flags, kept.bounds, 0.0)
    )
    watch_guarantee(made)
    assert made.ending == "rule_changed"
