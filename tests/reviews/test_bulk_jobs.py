"""Bulk jobs do what their preview says, once, and are taken back as a whole."""

from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.common.models import Job
from apps.labels.models import VIEW_UNKNOWN, Assignment, Gold, ItemState, Label
from apps.labels.services import assign_items, record_label
from apps.projects.models import Item, Membership, Project
from apps.reviews.bulk import actions, jobs
from apps.reviews.bulk.actions import undo_changes
from apps.reviews.bulk.jobs import NothingToDo, start_job, undo_job
from apps.reviews.bulk.plan import preview
from apps.reviews.models import BulkChange, Intervention
from apps.reviews.queue.leases import claim_next_item, release_all
from apps.reviews.queue.submission import skip_item
from labelhub.core.errors import Conflict, InvalidInput
from tests.cases import all_cases
from tests.factories.agreement import decide
from tests.factories.bulk import done, planned, run_job, undone
from tests.factories.labels import draft, open_item, person, queued_items
from tests.factories.projects import ProjectFactory, member
from tests.factories.reviews import claim, reviewer, suggest, suggested_items

pytestmark = pytest.mark.django_db


def said_of(items: list[Item]) -> list[Any]:
    """What people say of each now."""
    current = Label.objects.current().by_people().filter(item__in=items)
    return list(current.order_by("item").values_list("value", flat=True))


def test_suggestions_are_accepted_as_the_managers_own_labels(
    project: Project, manager: User
) -> None:
    items = [*queued_items(project, 3)]
    proposed = [suggest(item, value) for item, value in zip(items, ("good", "bad"), strict=False)]

    job = done(project, manager, "accept")

    assert (job.status, job.total, job.done, job.passed_over) == ("done", 3, 2, 1)
    assert job.counts == {"silent": 1}
    first = Label.objects.current().by_people().filter(item=items[0]).get()
    assert (first.value, first.action, first.proposed_from) == ("good", "accepted", proposed[0])
    assert (first.annotator.user, first.annotator.kind) == (manager, "expert")
    assert first.provenance["bulk"] == job.pk
    assert Gold.objects.current().count() == 2
    assert said_of(items) == ["good", "bad"]


def test_the_preview_counts_each_reason_and_shows_examples(project: Project, manager: User) -> None:
    fit, mine, decided, held, audited, _silent, experts = queued_items(project, 7)
    for item in (fit, mine, decided, held, experts):
        suggest(item, "good")
    suggest(audited, "good", reasons=["audit"])
    own = person(project, ReviewerKind.EXPERT)
    own.user = manager
    own.save()
    project.overlap = 2
    project.save()
    record_label(draft(mine, own, "good"))
    decide(decided, "good")
    somebody = reviewer(project)
    assign_items(project, [held.pk], [somebody])
    assert claim(project, somebody).item == held
    assign_items(project, [experts.pk], [reviewer(project), reviewer(project)])

    seen = preview(planned(project, manager, "accept"))

    assert (seen.total, seen.changing) == (7, 1)
    assert seen.passed == {
        "audited": 1, "decided": 1, "mine": 1, "silent": 1, "others": 1, "held": 1,
    }  # fmt: skip
    assert [item.pk for item in seen.examples] == [fit.pk]


def test_one_label_for_all_owes_nothing_to_suggestions_that_nobody_opened(
    project: Project, manager: User
) -> None:
    agreed, other, new = items = [*queued_items(project, 3)]
    suggest(agreed, "bad")
    suggest(other, "good")

    job = done(project, manager, "label", value="BAD")

    assert said_of(items) == ["bad"] * 3
    for label in Label.objects.by_people():
        assert (label.action, label.shown, label.proposed_from) == ("new", None, None)
        assert label.provenance.get(VIEW_UNKNOWN, False) is (label.item_id != new.pk)
    assert job.done == 3


def test_items_of_their_own_options_are_labelled_where_they_offer_it(manager: User) -> None:
    project = ProjectFactory.create(definition={"task": "per_item"})
    boss = member(project, Role.MANAGER)
    with_it, without = open_item(project, options=["a", "b"]), open_item(project, options=["c"])
    free = open_item(project)

    job = done(project, boss, "label", value="a")

    assert (job.done, job.counts) == (2, {"foreign": 1})
    assert said_of([with_it, without, free]) == ["a", "a"]


@pytest.mark.thorough
def test_items_are_given_to_all_or_in_turn(project: Project, manager: User) -> None:
    queued_items(project, 5)
    first, other = reviewer(project), reviewer(project)

    shared = done(project, manager, "assign", users=[first.pk, other.username], share=True)
    held = {user: Assignment.objects.filter(user=user).count() for user in (first, other)}
    assert sorted(held.values()) == [2, 3]
    undone(shared, manager)
    assert Assignment.objects.filter(open=True).count() == 0

    job = done(project, manager, "assign", users=[first.pk, other.pk], share=False)
    assert Assignment.objects.filter(open=True).count() == 10
    assert job.done == 5
    kinds = list(Intervention.objects.values_list("action", "items").order_by("pk"))
    assert kinds == [("assign", 5)] * 3


def test_nobody_is_given_what_they_have_labelled(project: Project, manager: User) -> None:
    project.overlap = 3
    project.save()
    item, rest = queued_items(project, 2)
    labeller = person(project)
    record_label(draft(item, labeller, "good"))
    assert labeller.user is not None
    other = reviewer(project)

    done(project, manager, "assign", users=[labeller.user.pk, other.pk], share=True)
    given = dict(Assignment.objects.values_list("item", "user"))

    assert given[item.pk] == other.pk
    assert rest.pk in given


@pytest.mark.thorough
def test_audience_and_first_place_are_set_and_restored(project: Project, manager: User) -> None:
    a, b = queued_items(project, 2)
    ItemState.objects.filter(item=b).update(assigned_kind="crowd", audience="crowd")

    kept = done(project, manager, "audience", kind="expert")
    first = done(project, manager, "promote", query={"items": [a.pk]})
    assert ItemState.objects.filter(assigned_kind="expert").count() == 2
    assert ItemState.objects.get(promoted=True).item == a

    undone(kept, manager)
    again = undone(first, manager)

    kinds = dict(ItemState.objects.values_list("item", "assigned_kind"))
    assert kinds == {a.pk: "", b.pk: "crowd"}
    assert not ItemState.objects.filter(promoted=True).exists()
    assert (again.status, again.counts["undone"], again.counts["kept"]) == ("undone", 1, 0)


def test_items_go_back_and_their_labels_come_again(project: Project, manager: User) -> None:
    item, untouched = queued_items(project, 2)
    label = record_label(draft(item, person(project), "good", seconds=9))

    job = done(project, manager, "return", reason="The guideline has changed.")

    assert (job.done, job.counts) == (1, {"unsaid": 1})
    assert said_of([item, untouched]) == []
    assert Intervention.objects.get().action == "return"

    undone(job, manager)
    restored = Label.objects.current().by_people().get()
    assert (restored.value, restored.annotator, restored.seconds) == ("good", label.annotator, None)
    assert Gold.objects.current().get().value == "good"


def test_undo_takes_back_what_nobody_has_changed_since(project: Project, manager: User) -> None:
    items = suggested_items(project, 3)
    job = done(project, manager, "accept")
    own = Label.objects.current().by_people().filter(item=items[0]).get()
    record_label(draft(items[0], own.annotator, "bad", supersedes_id=own.pk))

    undone(job, manager)
    job.refresh_from_db()

    assert job.status == "undone"
    assert (job.counts["undone"], job.counts["kept"]) == (2, 1)
    assert said_of([*items]) == ["bad"]
    assert Gold.objects.current().count() == 1
    with pytest.raises(Conflict, match="is undone"):
        undo_job(job=job, actor=manager)


def test_what_changed_or_came_since_the_preview_is_left_alone(
    project: Project, manager: User
) -> None:
    items = suggested_items(project, 3)
    plan = planned(project, manager, "accept", query={"stage": "suggested"})
    job = start_job(plan)
    record_label(draft(items[0], person(project), "bad"))  # decided: not found any more
    suggest(items[1], "bad")  # another suggestion than was seen
    late = open_item(project)
    suggest(late, "good")

    job = run_job(job.pk)

    assert (job.done, job.passed_over, job.counts) == (1, 2, {"gone": 2})
    assert said_of([*items, late]) == ["bad", "good"]


def test_nothing_to_do_says_why(project: Project, manager: User) -> None:
    queued_items(project, 2)

    with pytest.raises(NothingToDo, match="Of 2 items 2 have no suggestion to accept"):
        start_job(planned(project, manager, "accept"))
    with pytest.raises(NothingToDo, match="No item is found"):
        start_job(planned(project, manager, "promote", query={"q": "zzz"}))


@all_cases(
    "action, options, field",
    [
        ("explode", {}, "action"),
        ("label", {}, "value"),
        ("label", {"value": "neutral"}, "value"),
        ("assign", {}, "users"),
        ("assign", {"users": [2**80]}, "users"),
        ("assign", {"users": ["nobody"], "share": "x"}, "users"),
        ("audience", {"kind": "llm"}, "kind"),
        ("promote", {"promoted": "perhaps"}, "promoted"),
        ("return", {"reason": " "}, "reason"),
        ("return", {"reason": "x" * 501}, "reason"),
    ],
)
def test_wrong_options_are_named(
    project: Project, manager: User, action: str, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        planned(project, manager, action, **options)

    assert refused.value.data["errors"][0]["field"] == field


@pytest.mark.thorough
def test_a_job_that_died_goes_on_where_it_was(
    project: Project, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = suggested_items(project, 7)
    monkeypatch.setattr(jobs, "CHUNK", 2)
    monkeypatch.setattr(jobs, "SECONDS", 60.0)  # chunks of that size however busy the machine is
    job = start_job(planned(project, manager, "accept"))
    calls: list[Any] = []

    def dying(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 3:
            actions.apply_action(*args)
            raise SystemExit  # after it has written, before it has committed
        return actions.apply_action(*args)

    monkeypatch.setattr(jobs, "apply_action", dying)
    with pytest.raises(SystemExit):
        run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done) == ("running", 4)

    Job.objects.update(lease_until=timezone.now())
    job = run_job(job.pk)

    assert (job.status, job.done, job.passed_over) == ("done", 7, 0)
    assert len(said_of([*items])) == 7
    assert BulkChange.objects.filter(job=job).count() == 7
    assert Label.objects.by_people().count() == 7


def test_two_jobs_over_the_same_items_label_each_once(project: Project, manager: User) -> None:
    suggested_items(project, 4)
    other = member(project, Role.MANAGER)
    first, second = (start_job(planned(project, who, "accept")) for who in (manager, other))

    assert run_job(second.pk).done == 4
    late = run_job(first.pk)

    assert (late.status, late.done, late.passed_over) == ("done", 0, 4)
    assert Label.objects.by_people().count() == 4


def test_who_is_no_manager_any_more_changes_nothing(project: Project, manager: User) -> None:
    suggest(open_item(project), "good")
    job = start_job(planned(project, manager, "accept"))
    Membership.objects.filter(user=manager).update(role=Role.VIEWER)

    job = run_job(job.pk)

    assert (job.status, job.done) == ("failed", 0)
    assert "no longer a manager here" in job.message


@pytest.mark.thorough
def test_an_undoing_that_a_fault_stopped_goes_on_where_it_was(
    project: Project, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggested_items(project, 6)
    job = done(project, manager, "accept")
    monkeypatch.setattr(jobs, "CHUNK", 2)
    monkeypatch.setattr(jobs, "SECONDS", 60.0)  # chunks of that size however busy the machine is
    calls: list[Any] = []

    def failing(*args: Any) -> int:
        calls.append(args)
        return undo_changes(*args) if len(calls) != 2 else 1 // 0

    monkeypatch.setattr(jobs, "undo_changes", failing)
    stopped = undone(job, manager)
    assert (stopped.status, stopped.counts["undone"]) == ("failed", 2)

    again = undone(stopped, manager)

    assert (again.status, again.counts["undone"], again.counts["kept"]) == ("undone", 6, 0)
    assert not Label.objects.current().by_people().exists()


def test_who_skipped_a_returned_item_is_not_asked_again_once_that_is_undone(
    project: Project, manager: User
) -> None:
    project.overlap = 2
    project.save()
    item = open_item(project)
    record_label(draft(item, person(project), "good"))
    somebody = reviewer(project)
    skip_item(project=project, user=somebody, item_id=item.pk)
    assert claim_next_item(project=project, user=somebody) is None

    job = done(project, manager, "return", reason="Again.")
    assert claim(project, somebody).item == item
    undone(job, manager)

    release_all(project=project, user=somebody)
    assert claim_next_item(project=project, user=somebody) is None
