"""A rejection without a value is neither an answer nor an abstention; what was shown is a fact."""

import threading
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.agreement.report.label_matrix import read_label_matrix
from apps.agreement.report.queries import costs
from apps.agreement.report.repeats import self_agreement
from apps.agreement.report.slices import Slice
from apps.dashboards.work import desk_of, past_answers, work_report
from apps.labels.models import VIEW_UNKNOWN, Annotator, Assignment, Gold, ItemState, Kind, Label
from apps.labels.services import assign_items, keep_for_kind
from apps.labels.services.gold import next_gold
from apps.labels.services.item_ledger import ledger_from
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.bulk.jobs import NothingToDo, start_job
from apps.reviews.models import Decision, Purpose, ReviewerStatus, Slot
from apps.reviews.quality.reports import people_report
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.leases import claim_next_item
from apps.reviews.queue.status import queue_status
from apps.reviews.queue.submission import submit_label
from apps.reviews.queue.undo import reoffer_skipped
from apps.reviews.search.matching import matching_items
from apps.reviews.search.query import read_query
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.errors import InvalidInput
from tests.cases import present
from tests.factories.accounts import api_of
from tests.factories.bulk import planned
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import member
from tests.factories.quality import known
from tests.factories.reviews import (
    answer,
    claim,
    expert,
    new_project,
    reviewer,
    suggest,
    suggested_items,
)

pytestmark = pytest.mark.django_db


def rejects(project: Project, user: User) -> Label:
    """``user`` is handed the next item and only rejects its suggestion."""
    return answer(claim(project, user), user, None, reject=True).label


def state_of(item: Item) -> ItemState:
    return ItemState.objects.select_related("gold").get(item=item)


def test_a_rejection_leaves_the_item_to_somebody_else(project: Project, item: Item) -> None:
    proposed = suggest(item, "good")
    first, second = reviewer(project), reviewer(project)

    label = rejects(project, first)

    assert (label.value, label.abstained, label.rejected) == (None, False, True)
    assert (label.shown, label.proposed_from) == (proposed, None)
    assert label.action_words == "Rejected the suggestion, gave no label"
    state = state_of(item)
    assert (state.stage, state.queued, state.labels_by_people) == ("suggested", True, 0)
    assert claim_next_item(project=project, user=first) is None
    assert answer(claim(project, second), second, "bad").label.value == "bad"
    assert state_of(item).stage == "decided"


@pytest.mark.parametrize("value", [None, "bad"])
@pytest.mark.parametrize("shown", [None, 0])
def test_nothing_shown_is_nothing_to_reject(
    project: Project, item: Item, value: str | None, shown: int | None
) -> None:
    if shown == 0:
        suggest(item, "good")
    who = reviewer(project)

    with pytest.raises(InvalidInput, match=r"^reject: no suggestion was shown"):
        answer(claim(project, who), who, value, reject=True, shown=shown)

    assert not Label.objects.by_people().exists()


def test_who_answered_and_then_rejects_has_no_answer_any_more(project: Project) -> None:
    (item,) = suggested_items(project, 1)
    first, second = reviewer(project), reviewer(project)
    answer(claim(project, first), first, "good")

    submit_label(project=project, user=first, item_id=item.pk, answer=Answer(reject=True))

    state = state_of(item)
    assert (state.stage, state.queued, state.gold) == ("suggested", True, None)
    assert Gold.objects.latest("pk").withdrawn
    assert claim(project, second).item_id == item.pk


def test_a_later_answer_takes_the_place_of_the_rejection(project: Project) -> None:
    (item,) = suggested_items(project, 1)
    who = reviewer(project)
    rejection = rejects(project, who)

    label = submit_label(
        project=project, user=who, item_id=item.pk, answer=Answer(value="bad")
    ).label

    assert label.supersedes == rejection
    assert not Label.objects.standing().filter(rejected=True).exists()
    assert state_of(item).stage == "decided"


def test_who_rejected_cannot_change_later_what_others_decided(project: Project) -> None:
    """An answer to an item that has enough of them, unasked, counts for nothing."""
    (item,) = suggested_items(project, 1)
    first, second = reviewer(project), reviewer(project)
    rejects(project, first)
    answer(claim(project, second), second, "good")

    late = submit_label(project=project, user=first, item_id=item.pk, answer=Answer(value="bad"))

    assert late.label.role == Label.Role.EXTRA
    gold = present(state_of(item).gold)
    assert gold.value == "good"


def test_the_only_reviewer_is_told_of_it_and_takes_it_up_again(project: Project) -> None:
    first, second = suggested_items(project, 2)
    who = reviewer(project)
    rejects(project, who)
    answer(claim(project, who), who, "good")
    status = queue_status(project, who)
    assert (status.nothing_left, status.waiting, status.rejected_by_me) == (True, 1, 1)
    assert status.done_by_me == 1

    assert reoffer_skipped(project=project, user=who) == 1
    assert reoffer_skipped(project=project, user=who) == 0

    assert claim(project, who).item_id == first.pk
    assert state_of(second).stage == "decided"


def test_what_the_crowd_only_rejects_comes_to_experts_too(project: Project) -> None:
    (item,) = suggested_items(project, 1)
    keep_for_kind(project, [item.pk], "crowd")
    senior = expert(project)
    assert claim_next_item(project=project, user=senior) is None

    rejects(project, reviewer(project))

    assert claim(project, senior).item_id == item.pk


def test_who_was_given_it_by_name_gives_it_back(project: Project) -> None:
    (item,) = suggested_items(project, 1)
    named, other = reviewer(project), reviewer(project)
    assign_items(project, [item.pk], [named])
    assert claim_next_item(project=project, user=other) is None

    rejects(project, named)

    assert claim(project, other).item_id == item.pk


def test_an_item_out_of_scope_waits_once_somebody_says_that_the_suggestion_is_wrong() -> None:
    project = new_project(review_scope=Project.ReviewScope.DOUBTFUL)
    (item,) = suggested_items(project, 1)
    assert not state_of(item).queued

    submit_label(
        project=project, user=reviewer(project), item_id=item.pk, answer=Answer(reject=True)
    )

    assert state_of(item).queued


def test_of_a_known_answer_it_is_neither_right_nor_wrong_and_does_not_qualify() -> None:
    project = new_project(qualify_items=1)
    items = suggested_items(project, 2)
    known(items)
    who = reviewer(project)

    done = answer(claim(project, who), who, None, reject=True)

    assert (done.decision.purpose, done.decision.correct) == (Purpose.QUALIFY, None)
    assert not ReviewerStatus.objects.filter(user=who).exists()
    other = claim(project, who)
    assert other.item_id != done.label.item_id
    answer(other, who, "good")
    assert ReviewerStatus.objects.get(user=who).status == ReviewerStatus.Status.ACTIVE


def test_no_figure_changes_and_every_statistic_names_it() -> None:
    project = new_project(overlap=2)
    items = suggested_items(project, 4)
    people = [reviewer(project) for _ in range(2)]
    for who in people:
        for value in ("good", "good", "bad"):
            answer(claim(project, who), who, value, seconds=3.0)
    third = reviewer(project)
    before = figures(project)

    label = answer(claim(project, third), third, None, reject=True, seconds=500.0).label

    after = figures(project)
    assert after.pop("rejections") == {"crowd": 1}
    assert before.pop("rejections") == {"crowd": 0}
    assert after == before
    row = next(row for row in people_report(project).people if row.user == third)
    assert (row.counted.labels, row.counted.abstained, row.counted.only_rejected) == (0, 0, 1)
    assert row.counted.words == "1 only rejected"
    assert row.counted.accepted["value"] == 0
    assert row.counted.accepted["n"] == 1
    worker = next(worker for worker in work_report(project).workers if worker.member.user == third)
    assert (worker.labels, worker.this_week, worker.rejected) == (0, 0, 1)
    desk = desk_of(project, third)
    assert (desk.labels, desk.today, desk.rejected) == (0, 0, 1)
    (past,) = past_answers(project, third).answers
    assert (past.words, past.stands) == ("rejected the suggestion, gave no label", True)
    manager = member(project, Role.MANAGER)
    found = matching_items(project, read_query({"action": "rejected"}), manager)
    assert [item.pk for item in found] == [label.item_id]
    assert {item.pk for item in items} >= {label.item_id}


def figures(project: Project) -> dict[str, Any]:
    """All that is measured of a project's labels, and apart the rejections."""
    sheet = read_label_matrix(project)
    measured = build_report(sheet).to_json()
    rejections = {
        kind: counts.pop("rejections")
        for kind, counts in measured["sources"].items()
        if kind in ("crowd", "expert")
    }
    for counts in measured["sources"].values():
        counts.pop("rejections", None)
    return {
        "report": measured,
        "repeats": self_agreement(project, sheet, Slice(), schema=current_schema(project)),
        "costs": costs(project),
        "gold": list(Gold.objects.order_by("pk").values_list("item", "value", "basis")),
        "stages": list(
            ItemState.objects.order_by("pk").values_list("stage", "labels_by_people", "queued")
        ),
        "rejections": rejections,
    }


ANSWERS = st.lists(
    st.tuples(st.sampled_from(["good", "bad", None]), st.booleans()), min_size=1, max_size=6
)


@given(answers=ANSWERS, overlap=st.integers(1, 3))
def test_gold_never_rests_on_rejections(
    answers: list[tuple[str | None, bool]], overlap: int
) -> None:
    """``answers``: a value or an abstention, and whether somebody else rejects after it."""
    rows = []
    for number, (value, rejected_after) in enumerate(answers):
        rows.append(row(number, value))
        if rejected_after:
            rows.append(row(len(answers) + number, None, rejected=True))

    with_them = ledger_from(rows)
    without = ledger_from([label for label in rows if not label.rejected])

    assert with_them.by_people == without.by_people
    decisions = [
        gold and (gold.value, gold.basis, gold.evidence)
        for gold in (next_gold(overlap, with_them), next_gold(overlap, without))
    ]
    assert decisions[0] == decisions[1]


def row(number: int, value: str | None, *, rejected: bool = False) -> Label:
    """What the annotator ``number`` says, as a row that is not saved."""
    by = Annotator(pk=number + 1, kind=Kind.CROWD, name=f"a{number}")
    return Label(
        pk=number + 1, annotator=by, value=value, rejected=rejected,
        abstained=value is None and not rejected, action=Label.Action.NEW,
    )  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        {"value": "good"}, {"abstained": True}, {"withdrawn": True}, {"shown_id": None},
    ],
)  # fmt: skip
def test_the_database_keeps_rejections_apart(project: Project, fields: dict[str, Any]) -> None:
    (item,) = queued_items(project, 1)
    proposed = suggest(item, "good")
    rejection = {"value": None, "rejected": True, "shown_id": proposed.pk}

    with pytest.raises(IntegrityError, match="labels_label_rejection"), transaction.atomic():
        draft(item, person(project), **(rejection | fields)).to_row().save()

    draft(item, person(project), **rejection).to_row().save()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_reject_at_once_both_are_stored_and_the_item_stays_open() -> None:
    project = new_project(overlap=2)
    (item,) = suggested_items(project, 1)
    slots = [(claim(project, who), who) for who in (reviewer(project), reviewer(project))]
    barrier, faults = threading.Barrier(2), []

    def send(slot: Slot, who: User) -> None:
        barrier.wait()
        try:
            answer(slot, who, None, reject=True)
        except Exception as error:  # noqa: BLE001 - shown by the assertion below
            faults.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=send, args=arguments) for arguments in slots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    assert Label.objects.standing().filter(item=item, rejected=True).count() == 2
    assert Decision.objects.filter(item=item, action="reject").count() == 2
    state = state_of(item)
    assert (state.stage, state.queued, state.labels_by_people) == ("suggested", True, 0)
    assert not Slot.objects.filter(item=item, holder__isnull=False).exists()
    assert claim(project, reviewer(project)).item_id == item.pk


def test_a_suggestion_is_what_a_machine_has_proposed() -> None:
    project = new_project(overlap=2)
    (item,) = suggested_items(project, 1)
    first, second = reviewer(project), reviewer(project)
    colleague = answer(claim(project, first), first, "bad").label

    for fields in ({"value": "bad"}, {"reject": True}):
        with pytest.raises(InvalidInput, match="has no suggestion"):
            submit_label(
                project=project,
                user=second,
                item_id=item.pk,
                answer=Answer(shown=colleague.pk, **fields),
            )


def test_in_bulk_nobody_speaks_for_who_rejected(project: Project) -> None:
    (item,) = suggested_items(project, 1)
    manager = member(project, Role.MANAGER)
    rejection = rejects(project, manager)
    actions: dict[str, Any] = {"accept": {}, "assign": {"users": [manager.pk], "share": False}}
    for action, options in actions.items():
        with pytest.raises(NothingToDo, match="rejected"):
            start_job(planned(project, manager, action, **options))
    assert Label.objects.standing().get(annotator__user=manager) == rejection
    assert claim_next_item(project=project, user=manager) is None
    assert not Assignment.objects.filter(item=item).exists()


def test_over_rest_nothing_was_shown_of_an_item_that_nobody_handed_out(project: Project) -> None:
    suggested_items(project, 2)
    who = reviewer(project)
    api = api_of(who)
    root = f"/api/v1/projects/{project.slug}"
    handed = api.post(f"{root}/next/").json()["item"]["id"]
    other = project.items.exclude(pk=handed).get().pk
    stored = {}
    for item in (handed, other):
        row = api.post(f"{root}/labels/", {"item": item, "value": "good"}, format="json").json()
        stored[item] = (row["action"], row["shown"] is not None)
    assert stored == {handed: ("accepted", True), other: ("new", False)}
    unknown = {
        label.item_id: VIEW_UNKNOWN in label.provenance for label in Label.objects.by_people()
    }
    assert unknown == {handed: False, other: True}
    label = Label.objects.by_people().get(item=other)
    assert label.action_words == "Labelled; unknown whether a suggestion was shown"


def test_over_rest_what_was_handed_out_decides_and_not_what_was_suggested_since(
    project: Project,
) -> None:
    first, second = queued_items(project, 2)
    handed = suggest(second, "bad")
    api, root = api_of(reviewer(project)), f"/api/v1/projects/{project.slug}"
    stored = {}
    for item in (first, second):
        given = api.post(f"{root}/next/").json()
        assert given["item"]["id"] == item.pk
        suggest(item, "good")
        sent = {"item": item.pk, "value": "good", "lease": given["lease"]["token"]}
        row = api.post(f"{root}/labels/", sent, format="json").json()
        stored[item] = (row["action"], row["shown"])
    assert stored == {first: ("new", None), second: ("fixed", str(handed.uid))}
    assert not Label.objects.filter(provenance__has_key=VIEW_UNKNOWN).exists()
