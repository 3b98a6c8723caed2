"""Nothing that is said after a verdict, or after an audit's answer, takes an error back."""

from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.roles import Role
from apps.agreement.automation.decisions import author_labels_before
from apps.agreement.automation.guarantee import audit_of, switch_off, switch_on
from apps.agreement.automation.pool import count_pool, read_pool
from apps.agreement.automation.sample import sample_of
from apps.agreement.models import Guarantee
from apps.debates.models import Debate
from apps.debates.selectors import rule_of
from apps.debates.services import change_routing_rule
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Annotator, Label
from apps.labels.selectors import verified_as_of
from apps.labels.services import (
    NewGold,
    annotator_for,
    import_gold,
    record_label,
    withdraw_label,
)
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from apps.reviews.queue.plan import change_review_plan
from labelhub.core.debate.routing import Rule
from labelhub.core.errors import Conflict
from tests.agreement.automation_world import (
    all_wrong,
    answer,
    debated_project,
    decide,
    drawn,
    promised,
)
from tests.debates.routing_world import debated, run_of
from tests.factories.labels import draft, machine, person, queued_items
from tests.factories.projects import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return debated_project(150)


def correct(item_ids: list[int], who: Annotator, **fields: Any) -> None:
    """The same person says that the debate was right after all."""
    for label in Label.objects.current().filter(item__in=item_ids, annotator=who):
        record_label(draft(label.item, who, "good", supersedes_id=label.pk, **fields))


def errors_of(made: Guarantee) -> int:
    return sum(wrong for _, wrong in sample_of(made).known.values())


def test_correcting_the_labels_after_a_failed_verdict_changes_nothing(project: Project) -> None:
    made, who = drawn(project), person(project)
    answer(project, who, all_wrong)
    manager = member(project, Role.MANAGER)
    with pytest.raises(Conflict, match="does not prove the promise"):
        switch_on(made, actor=manager)
    assert (made.wrong, made.verdict is None) == (122, False)
    correct(made.sample, who)
    found = Guarantee.objects.get(pk=made.pk)
    assert errors_of(found) == 122
    with pytest.raises(Conflict, match="does not prove the promise"):
        switch_on(found, actor=manager)


@pytest.mark.thorough
def test_who_relabels_beside_the_suggestion_does_not_take_the_item_out(project: Project) -> None:
    made, who, other = drawn(project), person(project), person(project)
    answer(project, who, all_wrong)
    for debate in Debate.objects.filter(item__in=made.sample).select_related("item"):
        led = {"proposed_from_id": debate.label_id, "action": Label.Action.ACCEPTED}
        record_label(draft(debate.item, other, "good", **led))
    found = sample_of(made)
    assert (len(found.known), found.led, errors_of(made)) == (122, [], 122)


def test_of_an_undecided_item_the_blind_label_before_the_led_one_counts(project: Project) -> None:
    change_review_plan(project=project, overlap=2)
    made = drawn(project)
    debate = Debate.objects.select_related("item").get(item=made.sample[0])
    record_label(draft(debate.item, person(project), "bad"))
    assert made.sample[0] in sample_of(made).pending
    led = {"proposed_from_id": debate.label_id, "action": Label.Action.ACCEPTED}
    record_label(draft(debate.item, person(project), "good", **led))
    assert sample_of(made).known[made.sample[0]][1] is True


def test_the_audit_counts_what_was_said_first(project: Project) -> None:
    made, _, who = promised(project)
    items = list(queued_items(project, 12))
    for item in items:
        debated(item, uncertainty=0.0, reasons=ONLY_AUDITED)
        record_label(draft(item, who, "bad"))
    before = audit_of(made)
    assert (before.n, before.errors) == (12, 12)
    correct([item.pk for item in items[:4]], who)
    for label in Label.objects.current().filter(item__in=items[4:8], annotator=who):
        withdraw_label(label=label)
    for item in items[8:]:
        led = {"proposed_from_id": item.labels.earliest("pk").pk, "action": Label.Action.ACCEPTED}
        record_label(draft(item, person(project), "good", **led))
    assert audit_of(made) == before


def test_switching_off_leaves_a_rule_that_was_changed_meanwhile(project: Project) -> None:
    made, manager, _ = promised(project)
    wanted = Rule(frozenset({"tie"}), {"uncertainty": 0.3}, 0.4)
    change_routing_rule(project=project, actor=manager, rule=wanted)
    assert switch_off(made, actor=manager)
    assert (made.ending, made.applied, rule_of(project)) == ("rule_changed", True, wanted)
    project.refresh_from_db()
    assert project.review_scope == Project.ReviewScope.DOUBTFUL


def test_the_database_counts_what_the_pool_holds(project: Project) -> None:
    items = list(queued_items(project, 9))
    strange: list[dict[str, Any]] = [
        {"flags": ["tie"]}, {"flags": ["unheard of"]}, {"signals": {"d_rate": 0.2}},
        {"signals": {"d_rate": None}}, {"signals": {"d_rate": "0.1"}}, {"signals": {"d_rate": 0.9}},
        {"value": None}, {"signals": {"judge_changes": 3}}, {"signals": {"d_rate": True}},
    ]  # fmt: skip
    for item, fields in zip(items, strange, strict=True):
        debated(item, **fields)
    debated(items[5], flags=["tie"], run=run_of(project, spec_hash="a" * 64))
    tried = Debate.objects.select_related("item").filter(run__trial=False)[:20]
    trial = run_of(project, trial=True)
    for debate in list(tried):
        debated(debate.item, run=trial)
    for debate in Debate.objects.filter(run__trial=False).select_related("item")[30:34]:
        led = {"proposed_from_id": debate.label_id, "action": Label.Action.ACCEPTED}
        record_label(draft(debate.item, person(project), "good", **led))
    decide([debate.item for debate in Debate.objects.select_related("item")[50:60]])
    for debate in Debate.objects.select_related("item")[70:73]:
        gold = NewGold(
            item_id=debate.item_id,
            schema=current_schema(project),
            value="bad",
            decided_by=machine(project),
        )
        import_gold(project, [gold])
    run_of(project, spec_hash="b" * 64, protocol_settings={"precedents": 3})
    decide([debate.item for debate in Debate.objects.select_related("item")[80:84]])
    writer = annotator_for(project, kind="author", name="writer")
    for debate in Debate.objects.select_related("item").filter(run__trial=False)[55:66]:
        record_label(draft(debate.item, writer, "good", action=Label.Action.IMPORTED))
    pool, counts = read_pool(project), count_pool(project)
    assert (counts.debated, counts.within_rule, counts.available) == (
        pool.debated,
        len(pool.candidates),
        len(pool.drawable),
    )
    decided = {
        *verified_as_of(project.pk, timezone.now()).values_list("item_id", flat=True),
        *author_labels_before(project, timezone.now()).values_list("item_id", flat=True),
    }
    assert counts.decided == len(set(pool.drawable) & decided) > 0
    assert 0 < counts.available < counts.within_rule < counts.debated
