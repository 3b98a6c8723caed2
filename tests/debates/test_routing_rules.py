"""What a routing rule would do, and following a changed one for what was labelled before."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

from apps.accounts.roles import ReviewerKind
from apps.debates.models import Debate
from apps.debates.selectors.rules import EndedDebate, latest_debates
from apps.debates.services import (
    bounds_within_capacity,
    change_routing_rule,
    forecast_rule,
    read_routing_sample,
    reroute,
)
from apps.debates.services.driving.results import (
    ClaimedDebate,
    DebateCost,
    FinishedDebate,
    Reporter,
)
from apps.debates.services.routing import RoutingPolicy
from apps.debates.services.routing_forecast import JudgedDebate, RoutingSample
from apps.labels.models import VIEW_UNKNOWN, Gold, ItemState
from apps.labels.services import record_label
from apps.projects.models import Project
from labelhub.core.debate.outcome import Outcome
from labelhub.core.debate.routing import AT_MOST, FLAGS, THRESHOLDS, Rule, read_rule
from tests.debates.routing_world import debated, run_of
from tests.factories.accounts import UserFactory
from tests.factories.labels import draft, open_item, person, queued_items
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db
NOTHING = read_rule({"flags": [], "bounds": {}, "audit": 0})
EVERYTHING_AUDITED = read_rule({"flags": [], "bounds": {}, "audit": 0.5})


@pytest.fixture
def project() -> Project:
    """A project in which people see only what the rule sends them."""
    return ProjectFactory.create(review_scope="doubtful")


def save(project: Project, rule: Rule) -> None:
    change_routing_rule(project=project, actor=UserFactory.create(), rule=rule)


def state(item: Any) -> ItemState:
    return ItemState.objects.get(item=item)


def gold(item: Any, value: str) -> None:
    record_label(draft(item, person(item.project, ReviewerKind.EXPERT), value))
    assert Gold.objects.current().get(item=item).value == value


def test_only_the_latest_debate_of_an_item_counts_and_none_of_a_trial(project: Project) -> None:
    item = open_item(project)
    debated(item, "bad")
    latest = debated(item, "good", run=run_of(project))
    debated(item, "bad", run=run_of(project, trial=True))
    assert [debate.pk for debate in latest_debates(project)] == [latest.pk]


def test_a_rule_is_weighed_by_what_it_sends_and_why(project: Project) -> None:
    first, two, three, four = queued_items(project, 4)
    debated(first, flags=["dissent"], signals={"d_rate": 0.4})
    debated(two, flags=["dissent"])
    debated(three, None, flags=["unparsed"])
    debated(four, signals={"d_rate": 0.9})
    found = forecast_rule(read_routing_sample(project), Rule())
    assert (found.items, found.sent, found.share) == (4, 3, 0.75)
    assert dict(found.because) == {"dissent": 2, "low_d_rate": 1, "unparsed": 1}


def test_a_bound_is_found_that_keeps_to_what_people_can_look_at(project: Project) -> None:
    for item, lead in zip(queued_items(project, 4), (0.1, 0.3, 0.7, 0.9), strict=True):
        debated(item, signals={"d_rate": lead})
    found = forecast_rule(read_routing_sample(project), NOTHING)
    ((threshold, step),) = [
        suggestion
        for suggestion in bounds_within_capacity(found, 2)
        if suggestion[0].signal == "d_rate"
    ]
    assert (threshold.signal, step.sent) == ("d_rate", 2)
    assert [step.sent for _, step in bounds_within_capacity(found, 0)] == [0] * len(
        bounds_within_capacity(found, 0)
    )


shares = st.floats(0, 1)
endings: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    flags=st.sets(st.sampled_from(sorted(FLAGS)), max_size=3),
    signals=st.dictionaries(
        st.sampled_from([threshold.signal for threshold in THRESHOLDS]), st.none() | st.floats(0, 5)
    ),
    value=st.none() | st.just("good"),
)


def sample_of(found: list[dict[str, Any]]) -> RoutingSample:
    known = [
        JudgedDebate(
            EndedDebate(
                pk=number, item_id=number, key=str(number),
                value=debate["value"], signals=debate["signals"],
                status="done" if debate["value"] else "unparsed",
                flags=tuple(sorted(debate["flags"])), reasons=(),
            ),
            None,
        )
        for number, debate in enumerate(found)
    ]  # fmt: skip
    empty: frozenset[int] = frozenset()
    return RoutingSample(RoutingPolicy(Rule(), "salt", audits=True), known, True, empty, empty)


@given(
    st.lists(endings, max_size=12),
    st.sampled_from(THRESHOLDS),
    shares,
    shares,
    st.sets(st.sampled_from(sorted(FLAGS))),
)
def test_a_bound_moved_towards_more_never_sends_fewer(
    found: list[dict[str, Any]], threshold: Any, share: float, other: float, flags: set[str]
) -> None:
    sample = sample_of(found)
    strict, lax = sorted((share * threshold.high, other * threshold.high))
    if threshold.side == AT_MOST:
        strict, lax = lax, strict

    def sent(bound: float | None) -> int:
        rule = read_rule({"flags": list(flags), "bounds": {threshold.signal: bound}})
        return forecast_rule(sample, rule).sent

    assert sent(None) <= sent(lax) <= sent(strict)


@pytest.mark.thorough
@given(st.lists(endings, max_size=12), st.sampled_from(THRESHOLDS))
@example([{"flags": set(), "signals": {}, "value": "good"}], THRESHOLDS[-1])  # certainty unknown
def test_steps_say_what_a_rule_with_that_bound_would_send(
    found: list[dict[str, Any]], threshold: Any
) -> None:
    sample = sample_of(found)
    for signal in forecast_rule(sample, Rule()).signals:
        if signal.threshold is not threshold:
            continue
        for step in signal.steps:
            bounds = {**Rule().bounds, threshold.signal: step.bound}
            rule = read_rule({"bounds": bounds})
            assert forecast_rule(sample, rule).sent == step.sent


# -- following a rule -------------------------------------------------------------------------


def test_a_stored_rule_changes_nothing_until_it_is_applied(project: Project) -> None:
    item = open_item(project)
    debate = debated(item, flags=["tie"], reasons=["tie"])
    save(project, NOTHING)
    assert state(item).reasons == ["tie"]
    assert read_routing_sample(project).behind == 1

    assert reroute(project) == 1

    debate.refresh_from_db()
    after = state(item)
    assert (debate.reasons, after.reasons, after.queued) == ([], [], False)
    assert after.suggestion_id == debate.label_id
    assert read_routing_sample(project).behind == 0


def test_what_people_have_begun_stays_with_them(project: Project) -> None:
    project.overlap = 2
    project.save()
    item = open_item(project)
    debated(item, flags=["tie"], reasons=["tie"])
    record_label(draft(item, person(project), "good"))
    save(project, NOTHING)
    reroute(project)
    after = state(item)
    assert (after.reasons, after.queued, after.stage) == ([], True, "in_review")


def test_a_failed_debate_and_what_was_never_debated_stay_as_they_are(project: Project) -> None:
    failed, fresh = queued_items(project, 2)
    debate = debated(failed, None, reasons=["failed"])
    Debate.objects.filter(pk=debate.pk).update(status=Debate.Status.FAILED)
    save(project, NOTHING)
    assert reroute(project) == 0
    assert (state(failed).reasons, state(fresh).reasons) == (["failed"], [])


def test_an_answered_audit_stays_one_when_fewer_are_audited(project: Project) -> None:
    asked, unasked = queued_items(project, 2)
    for item in (asked, unasked):
        debated(item, reasons=["audit"])
    record_label(draft(asked, person(project), "bad"))
    save(project, NOTHING)
    reroute(project)
    assert (state(asked).reasons, state(unasked).reasons) == (["audit"], [])
    sample = read_routing_sample(project)
    assert (sample.accepted_error["value"], sample.accepted_error["n"]) == (1.0, 1)
    assert sample.behind == 0


def test_a_run_under_way_follows_a_rule_and_a_plan_that_changed(project: Project) -> None:
    item = open_item(project)
    reporter = Reporter(run_of(project))
    outcome = Outcome(value="good", flags=("tie",), uncertainty=0.5)
    ended = FinishedDebate(
        ClaimedDebate(pk=1, replicate=1, item=item), outcome, DebateCost(), timezone.now()
    )
    assert reporter.result(ended).reasons == ("tie",)
    save(project, read_rule({"flags": [], "bounds": {}}))
    assert reporter.result(ended).reasons in {(), ("audit",)}
    assert reporter.reasons(ended) == reporter.result(ended).reasons


def all_at_once(*works: Callable[[], Any]) -> list[BaseException]:
    """Do each in a thread of its own; what they raised."""
    faults: list[BaseException] = []
    barrier = threading.Barrier(len(works))

    def begin(work: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            faults.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=begin, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


@pytest.mark.thorough
@pytest.mark.django_db(transaction=True)
def test_two_who_apply_a_reviewer_and_a_run_leave_every_item_in_line(project: Project) -> None:
    items = queued_items(project, 60)
    for item in items:
        debated(item, flags=["tie"], reasons=["tie"])
    fresh, other, who = queued_items(project, 10), run_of(project), person(project)
    save(project, NOTHING)

    def label() -> None:
        for item in items[:20]:
            record_label(draft(item, who, "good"))

    def run() -> None:
        for item in fresh:
            debated(item, run=other, flags=["tie"])

    works = (lambda: reroute(project), lambda: reroute(project), label, run)
    assert all_at_once(*works) == []
    states = ItemState.objects.filter(project=project)
    assert states.filter(reasons=[], queued=False).count() == 70
    assert states.filter(stage="decided", labels_by_people=1).count() == 20
    assert Debate.objects.filter(reasons=[]).count() == 70


def test_of_audits_only_answers_without_a_suggestion_in_view_count(project: Project) -> None:
    """Nor does one whose view nobody knows."""
    blind, unknown = queued_items(project, 2)
    for item in (blind, unknown):
        debated(item, reasons=["audit"])
    record_label(draft(blind, person(project), "good"))
    record_label(draft(unknown, person(project), "good", provenance={VIEW_UNKNOWN: True}))
    assert read_routing_sample(project).biased == {unknown.pk}
