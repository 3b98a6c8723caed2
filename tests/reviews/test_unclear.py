"""An expert finds that nobody can tell: the item has no gold, and waits for nobody."""

from typing import Any

import pytest

from apps.accounts.models import User
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import record_label
from apps.projects.models import Item, Project
from apps.reviews.adjudication.docket import next_case, read_docket
from apps.reviews.adjudication.services import (
    Adjudicated,
    DecidedMeanwhile,
    claim_to_adjudicate,
    send_back,
    undo_adjudication,
)
from apps.reviews.comments.selectors import unread_mentions
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.submission import submit_label
from apps.reviews.queue.undo import undo_last
from labelhub.core.errors import InvalidInput
from tests.cases import present
from tests.factories.labels import draft, machine, queued_items
from tests.factories.reviews import answer, claim, expert, reviewer
from tests.reviews.test_adjudication import disputed, in_conflict, rule, state_of

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}
Stage = ItemState.Stage


def cannot_tell(item: Item, user: User, **options: Any) -> Adjudicated:
    return rule(item, user, None, abstain=True, **options)


def unclear_item(project: Project, judge: User, **options: Any) -> Item:
    """One on which people disagree, and of which an expert found that nobody can tell."""
    item = in_conflict(project)
    cannot_tell(item, judge, **options)
    return item


def stands(item: Item) -> tuple[str, bool, bool]:
    """Its stage, whether it waits, whether it has gold."""
    state = state_of(item)
    return state.stage, state.queued, Gold.objects.current().filter(item=item).exists()


SETTLED = (Stage.UNCLEAR, False, False)


def test_the_item_has_no_gold_and_waits_for_nobody(project: Project, judge: User) -> None:
    item = in_conflict(project)

    done = cannot_tell(item, judge, rationale="Two readings.", seconds=7.5)

    label = done.label
    assert (label.value, label.abstained, label.action) == (None, True, Label.Action.NEW)
    assert (label.rationale, label.seconds) == ("Two readings.", 7.5)
    assert label.role == Label.Role.UNCLEAR
    assert (done.gold, stands(item), state_of(item).disputed) == (None, SETTLED, False)
    assert not state_of(item).is_gold_question
    assert read_docket(project).waiting == 0
    assert next_case(project, expert(project)) is None
    assert claim_to_adjudicate(project=project, user=expert(project), item_id=item.pk) is None


def test_a_decision_that_a_machine_disputes_is_withdrawn(project: Project, judge: User) -> None:
    item = disputed(project)

    cannot_tell(item, judge)

    newest = Gold.objects.get(item=item, superseded_by=None)
    assert (newest.withdrawn, newest.basis) == (True, Gold.Basis.WITHDRAWN)
    assert present(newest.supersedes).value == "good"
    assert (stands(item), state_of(item).disputed) == (SETTLED, False)
    record_label(draft(item, machine(project, "other"), "bad", confidence=0.99, action="proposed"))
    assert stands(item) == SETTLED


def test_it_is_either_a_label_or_that_it_cannot_be_told(project: Project, judge: User) -> None:
    item = in_conflict(project)

    with pytest.raises(InvalidInput, match="either"):
        rule(item, judge, "bad", abstain=True)
    assert stands(item) == (Stage.CONFLICT, True, False)


def answer_again(item: Item, user: User, value: Any, **fields: Any) -> None:
    changed = Answer(value=value, **fields)
    submit_label(project=item.project, user=user, item_id=item.pk, answer=changed)


class TestQuotes:
    def test_each_speaks_for_its_own_label(self, project: Project, judge: User) -> None:
        item = in_conflict(project)

        done = cannot_tell(item, judge, evidence={"good": ["the food"], "bad": ["THE food"]})

        assert done.label.evidence == {"good": ["the food"], "bad": ["the food"]}

    def test_those_of_no_label_are_a_part_of_the_reasons(
        self, project: Project, judge: User
    ) -> None:
        item = in_conflict(project)

        done = cannot_tell(item, judge, rationale="Irony?", evidence={"": ["the food was"]})

        assert done.label.evidence == {}
        assert done.label.rationale == "Irony?\n“the food was”"


class TestTwoExperts:
    def test_whoever_comes_second_is_told_who_found_it(self, project: Project, judge: User) -> None:
        item = unclear_item(project, judge)

        for late in (rule, cannot_tell):
            words = f"{judge.username} has decided this item meanwhile: unsure"
            with pytest.raises(DecidedMeanwhile, match=words):
                late(item, expert(project))
        with pytest.raises(DecidedMeanwhile):
            send_back(project=project, user=expert(project), item_id=item.pk, reason="Look again.")
        assert stands(item) == SETTLED

    def test_what_comes_late_to_the_queue_changes_nothing(
        self, project: Project, judge: User
    ) -> None:
        item = unclear_item(project, judge)

        answer_again(item, expert(project), "good")
        answer_again(item, reviewer(project), "good")

        assert stands(item) == SETTLED


class TestAnew:
    def test_the_newest_word_of_the_expert_wins(self, project: Project, judge: User) -> None:
        item = unclear_item(project, judge)

        done = rule(item, judge, "bad")
        assert present(done.gold).value == "bad"
        assert done.label.role == Label.Role.ADJUDICATION
        assert cannot_tell(item, judge).gold is None

        assert stands(item) == SETTLED
        assert Label.objects.current().filter(annotator__user=judge).count() == 1

    def test_an_abstention_in_the_queue_settles_nothing(
        self, project: Project, judge: User
    ) -> None:
        item = unclear_item(project, judge)

        answer_again(item, judge, None, abstain=True)

        assert stands(item) == (Stage.CONFLICT, True, False)
        assert cannot_tell(item, expert(project)).created
        assert stands(item) == SETTLED

    def test_nor_does_one_about_what_a_machine_disputes(
        self, project: Project, judge: User
    ) -> None:
        item = disputed(project)

        answer(claim(project, judge), judge, None, abstain=True)

        assert stands(item) == (Stage.DECIDED, True, True)
        assert state_of(item).disputed


class TestUndo:
    def test_on_the_desk_the_conflict_is_back(self, project: Project, judge: User) -> None:
        wrong = reviewer(project)
        item = in_conflict(project, wrong, reviewer(project))
        cannot_tell(item, judge, explain="Two readings.")

        assert undo_adjudication(project=project, user=judge) is not None

        assert stands(item) == (Stage.CONFLICT, True, False)
        assert unread_mentions(project.pk, wrong.pk) == 0

    def test_and_that_it_cannot_be_told_does_too(self, project: Project, judge: User) -> None:
        item = unclear_item(project, judge, rationale="Two readings.")
        rule(item, judge, "bad")

        undone = present(undo_last(project=project, user=judge))

        assert undone.restored
        assert stands(item) == SETTLED
        assert Label.objects.current().get(annotator__user=judge).rationale == "Two readings."

    def test_a_disputed_decision_is_made_again(self, project: Project, judge: User) -> None:
        item = disputed(project)
        cannot_tell(item, judge)

        undo_adjudication(project=project, user=judge)

        assert stands(item) == (Stage.DECIDED, True, True)
        assert state_of(item).disputed


def test_who_cannot_tell_first_is_no_majority(project: Project) -> None:
    """Without the desk nothing is settled: it goes to an expert, as ever."""
    (item,) = queued_items(project, 1)
    for _ in range(2):
        answer(claim(project, first := reviewer(project)), first, None, abstain=True)

    assert stands(item) == (Stage.CONFLICT, True, False)
