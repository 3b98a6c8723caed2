"""An expert settles what others disagree on, alone, with reasons, and explains it."""

from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import annotator_for_user, record_label
from apps.projects.models import Item, Project
from apps.reviews.adjudication import docket as adjudication
from apps.reviews.adjudication.docket import CaseFilter, next_case, read_docket
from apps.reviews.adjudication.opinions import lease_of_others, read_opinions, readable_opinions
from apps.reviews.adjudication.services import (
    Adjudicated,
    DecidedMeanwhile,
    Ruling,
    adjudicate,
    claim_to_adjudicate,
)
from apps.reviews.comments.selectors import thread_on, unread_mentions
from apps.reviews.models import Intervention, Slot
from apps.reviews.queue.leases import claim_next_item
from labelhub.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from labelhub.core.schema import ValueNotOffered
from tests.cases import all_cases, present
from tests.factories.labels import draft, machine, queued_items
from tests.factories.projects import ASPECTS
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, suggest

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}


def in_conflict(project: Project, *people: User, values: tuple[Any, ...] = ("good", "bad")) -> Item:
    """An item on which two people disagree; they are made unless given."""
    (item,) = queued_items(project, 1)
    for value, person in zip(values, people or (reviewer(project), reviewer(project)), strict=True):
        answer(claim(project, person), person, value)
    return item


def disputed(project: Project, sure: float = 0.95) -> Item:
    """An item that two people decided, which a sure machine contradicts."""
    project.dispute_above = 0.9
    project.save()
    (item,) = queued_items(project, 1)
    for person in (reviewer(project), reviewer(project)):
        answer(claim(project, person), person, "good")
    record_label(draft(item, machine(project), "bad", confidence=sure, action="proposed"))
    return item


def rule(item: Item, user: User, value: Any = "bad", **options: Any) -> Adjudicated:
    token = options.pop("lease_token", None)
    return adjudicate(
        project=item.project,
        user=user,
        item_id=item.pk,
        ruling=Ruling(value=value, **options),
        lease_token=token,
    )


def state_of(item: Item) -> ItemState:
    return ItemState.objects.get(item=item)


def test_a_ruling_is_gold_with_reasons(project: Project, judge: User) -> None:
    item = in_conflict(project)

    done = rule(
        item, judge, rationale="It is irony.", evidence={"good": ["THE  FOOD was"]}, seconds=12.5
    )

    assert done.gold is not None
    assert (done.gold.value, done.gold.basis) == ("bad", Gold.Basis.ADJUDICATION)
    assert done.gold.evidence == [str(done.label.uid)]
    assert (done.label.rationale, done.label.seconds) == ("It is irony.", 12.5)
    # As it stands in the text, for the label that it now speaks for.
    assert done.label.evidence == {"bad": ["the food was"]}
    assert done.label.role == Label.Role.ADJUDICATION
    assert not state_of(item).queued


def test_a_dispute_with_a_machine_is_settled(project: Project, judge: User) -> None:
    item = disputed(project)
    assert state_of(item).disputed

    done = rule(item, judge, "good")

    assert present(done.gold).basis == Gold.Basis.ADJUDICATION
    assert (state_of(item).disputed, done.overruled) == (False, [])


def test_crowd_workers_decide_nothing(project: Project) -> None:
    with pytest.raises(Forbidden, match="Only experts decide"):
        rule(in_conflict(project), reviewer(project))


@all_cases(
    "options, fault",
    [
        ({"value": "ugly"}, ValueNotOffered),
        ({"value": None}, InvalidInput),
        ({"rationale": "a\0b"}, InvalidInput),
        ({"rationale": "x" * 10_001}, InvalidInput),
        ({"explain": "x" * 10_001}, InvalidInput),
        ({"evidence": {"bad": ["nowhere to be found"]}}, InvalidInput),
    ],
)
def test_what_cannot_be_used_changes_nothing(
    project: Project, judge: User, options: dict[str, Any], fault: type[Exception]
) -> None:
    item = in_conflict(project)
    before = Label.objects.count()

    with pytest.raises(fault):
        rule(item, judge, **options)

    assert Label.objects.count() == before
    assert state_of(item).stage == ItemState.Stage.CONFLICT


def test_an_item_elsewhere_is_not_found(project: Project, judge: User) -> None:
    elsewhere = in_conflict(new_project(overlap=2))

    with pytest.raises(NotFound):
        adjudicate(project=project, user=judge, item_id=elsewhere.pk, ruling=Ruling(value="bad"))
    assert claim_to_adjudicate(project=project, user=judge, item_id=elsewhere.pk) is None


def test_two_experts_never_have_the_same_item(project: Project, judge: User) -> None:
    item, other = in_conflict(project), expert(project)
    mine = present(claim_to_adjudicate(project=project, user=judge, item_id=item.pk))

    assert claim_to_adjudicate(project=project, user=other, item_id=item.pk) is None
    assert claim_next_item(project=project, user=other) is None
    assert next_case(project, other) is None
    held = present(lease_of_others(item.pk, other))
    assert held.holder == judge
    again = present(claim_to_adjudicate(project=project, user=judge, item_id=item.pk))
    assert again.lease_token == mine.lease_token

    Slot.objects.update(lease_until=timezone.now())
    taken = present(claim_to_adjudicate(project=project, user=other, item_id=item.pk))
    assert taken.pk == mine.pk


def test_whoever_comes_second_overrules_nobody_unknowingly(project: Project, judge: User) -> None:
    item = in_conflict(project)
    rule(item, judge, "bad")

    with pytest.raises(DecidedMeanwhile, match="bad"):
        rule(item, expert(project), "good")

    assert Gold.objects.current().get().value == "bad"


def test_one_of_the_two_may_settle_it(project: Project, judge: User) -> None:
    item = in_conflict(project, judge, reviewer(project))
    slot = present(claim_to_adjudicate(project=project, user=judge, item_id=item.pk))
    assert next_case(project, judge) == item.pk

    done = rule(item, judge, "good", lease_token=slot.lease_token)

    assert done.gold is not None
    assert (done.gold.value, done.gold.basis) == ("good", Gold.Basis.ADJUDICATION)
    assert done.label.supersedes is not None
    assert Label.objects.current().count() == 2
    assert not Slot.objects.live(timezone.now()).exists()


def test_who_was_checked_by_it_before_may_settle_it(project: Project, judge: User) -> None:
    """Its answer was known when they gave theirs, and is not any more."""
    item = in_conflict(project)
    own = annotator_for_user(project, judge)
    record_label(draft(item, own, "good", role=Label.Role.GOLD_QUESTION))

    done = rule(item, judge, "bad")

    assert (present(done.gold).value, done.label.role) == ("bad", Label.Role.ADJUDICATION)


def test_those_who_are_overruled_are_told(project: Project, judge: User) -> None:
    right, wrong = reviewer(project), reviewer(project)
    item = in_conflict(project, wrong, right)

    done = rule(item, judge, explain="Irony counts as what is meant.")

    assert done.overruled == [wrong]
    assert unread_mentions(project.pk, wrong.pk) == 1
    assert unread_mentions(project.pk, right.pk) == 0
    assert thread_on(project, wrong, item.pk).explanations == [done.comment]
    logged = Intervention.objects.get()
    assert (logged.action, logged.subject, logged.data["item"]) == ("explain", wrong, item.pk)


def test_opinions_stand_side_by_side(project: Project, judge: User) -> None:
    item = in_conflict(project)
    suggest(item, "bad", evidence={"bad": ["The FOOD", "never said"]})

    case = read_opinions(project, judge, item.pk)

    assert [(side.words, side.key) for side in case.sides] == [("good", "1"), ("bad", "2")]
    kinds = [opinion.label.annotator.kind for side in case.sides for opinion in side.opinions]
    assert kinds == ["crowd", "llm", "crowd"]
    assert case.sides[1].opinions[0].quotes == (("bad", "the food"),)
    assert [(choice.value, choice.kinds) for choice in case.choices] == [
        ("good", ("crowd",)),
        ("bad", ("llm", "crowd")),
    ]


def test_audits_stay_blind_for_the_expert(project: Project, item: Item, judge: User) -> None:
    suggest(item, "bad", reasons=["audit"])
    for value in ("good", "bad"):
        person = reviewer(project)
        answer(claim(project, person), person, value)

    case = read_opinions(project, judge, item.pk)
    assert {opinion.label.annotator.kind for opinion in case.opinions} == {"crowd"}
    assert case.shown == 0

    rule(item, judge)
    assert len(read_opinions(project, judge, item.pk).opinions) == 4


def test_what_waits_for_nobody_is_not_told(project: Project, person: User, judge: User) -> None:
    (item,) = queued_items(project, 1)
    answer(claim(project, person), person, "good")

    with pytest.raises(Conflict):
        readable_opinions(project, judge, item.pk)


def test_the_list_counts_and_narrows(project: Project, django_assert_num_queries: Any) -> None:
    person, other = reviewer(project), reviewer(project)
    mine = in_conflict(project, person, other)
    theirs = in_conflict(project)
    fought = disputed(project)

    with django_assert_num_queries(3):  # the schema, what waits, what is said of it
        found = read_docket(project)

    assert (found.conflicts, found.disputes, found.waiting) == (2, 1, 3)
    assert found.against == [("bad / good", 3)]
    assert {voice.name: n for voice, n in found.people}[person.username] == 1
    by = next(voice for voice, _ in found.people if voice.name == person.username)
    narrowed = {
        CaseFilter(by=by.annotator_id): [mine.pk],
        CaseFilter(between="machine"): [fought.pk],
        CaseFilter(between="people"): [mine.pk, theirs.pk],
        CaseFilter(against="nothing / else"): [],
        CaseFilter(age="week"): [],
        CaseFilter(age="eternity"): [mine.pk, theirs.pk, fought.pk],
    }
    for wanted, ids in narrowed.items():
        assert [case.item_id for case in read_docket(project, wanted).cases] == ids


def test_sets_name_what_they_differ_in() -> None:
    project = new_project(overlap=2, definition=ASPECTS)
    item = in_conflict(project, values=(["Food"], ["Food", "Service"]))
    judge = expert(project)

    assert read_docket(project).against == [("Service", 1)]
    case = read_opinions(project, judge, item.pk)
    assert [(choice.value, choice.kinds) for choice in case.choices] == [
        ("Food", ("crowd", "crowd")),
        ("Service", ("crowd",)),
    ]
    done = rule(item, judge, ["Food"], evidence={"Service": ["food"], "Food": ["good"]})
    assert done.label.evidence == {"Service": ["food"], "Food": ["good"]}


def test_next_goes_round(project: Project, judge: User) -> None:
    first, second = in_conflict(project), in_conflict(project)

    assert next_case(project, judge) == first.pk
    assert next_case(project, judge, after=first.pk) == second.pk
    assert next_case(project, judge, after=second.pk) == first.pk
    assert next_case(project, judge, wanted=CaseFilter(between="machine")) is None


def test_items_that_one_has_labelled_come_after_those_of_others(
    project: Project, judge: User
) -> None:
    mine = in_conflict(project, reviewer(project), judge)
    first, second = in_conflict(project), in_conflict(project)

    assert next_case(project, judge) == first.pk
    assert next_case(project, judge, after=second.pk) == first.pk
    for item in (first, second):
        rule(item, judge)
    assert next_case(project, judge) == mine.pk
    assert next_case(project, judge, after=mine.pk) is None


def test_more_than_are_listed_are_counted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adjudication, "MOST", 2)
    for _ in range(3):
        in_conflict(project)

    found = read_docket(project)

    assert (len(found.cases), found.listed, found.waiting, found.conflicts) == (2, 2, 3, 3)
