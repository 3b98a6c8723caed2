"""What an expert found that nobody can tell, afterwards: other plans, labels, decisions."""

import pytest

from apps.accounts.models import User
from apps.labels.models import Gold, ItemState, Kind, Label
from apps.labels.services import (
    NewGold,
    annotator_for,
    import_gold,
    import_ledger,
    record_label,
    replan,
    withdraw_label,
)
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from apps.reviews.queue.plan import change_review_plan
from labelhub.core.schema.operations import Merge, Rename
from tests.cases import present
from tests.factories.labels import draft, machine
from tests.factories.projects import ItemFactory
from tests.factories.reviews import answer, claim, reviewer
from tests.factories.schema_changes import changed, taken_back
from tests.reviews.test_adjudication import state_of
from tests.reviews.test_unclear import SETTLED, cannot_tell, stands, unclear_item

pytestmark = pytest.mark.django_db
Stage = ItemState.Stage
THREE = {"task": "single", "labels": ["good", "bad", "mixed"]}
PROJECT = {"overlap": 2, "definition": THREE}


class TestThePlan:
    def test_more_people_are_asked_and_the_expert_is_right_still(
        self, project: Project, judge: User
    ) -> None:
        item = unclear_item(project, judge)

        change_review_plan(project=project, overlap=4)
        assert stands(item) == (Stage.IN_REVIEW, True, False)
        answer(claim(project, first := reviewer(project)), first, "good")

        assert stands(item) == SETTLED

    def test_fewer_or_as_many_change_nothing(self, project: Project, judge: User) -> None:
        item = unclear_item(project, judge)

        for overlap in (3, 1, 2):
            change_review_plan(project=project, overlap=overlap)
            assert stands(item) == SETTLED
        replan(project)
        assert stands(item) == SETTLED


class TestChangesOfLabels:
    def test_it_is_carried_over_and_back(self, project: Project, judge: User) -> None:
        item = unclear_item(project, judge, evidence={"bad": ["the food"]})

        change = changed(project, Rename("bad", "poor"))
        carried = Label.objects.current().get(annotator__user=judge)
        assert (carried.abstained, carried.evidence) == (True, {"poor": ["the food"]})
        assert stands(item) == SETTLED
        taken_back(change)
        assert stands(item) == SETTLED

    def test_also_where_those_who_disagreed_agree_now(self, project: Project, judge: User) -> None:
        item = unclear_item(project, judge)

        changed(project, Merge(("good", "bad"), "either"))

        assert stands(item) == SETTLED


class TestOtherDecisions:
    def test_the_author_knows_better_as_long_as_they_say_so(
        self, project: Project, judge: User
    ) -> None:
        item = unclear_item(project, judge)
        author = annotator_for(project, kind=Kind.AUTHOR, name="writer")

        label = record_label(draft(item, author, "good", action="new"))
        assert Gold.objects.current().get().basis == Gold.Basis.AUTHOR
        withdraw_label(label=label)

        assert stands(item) == SETTLED

    def test_gold_that_came_in_a_file_stands(self, project: Project, judge: User) -> None:
        item = unclear_item(project, judge)
        schema = current_schema(project)

        import_gold(project, [NewGold(item_id=item.pk, schema=schema, value="good")])
        assert stands(item) == (Stage.DECIDED, False, True)
        done = cannot_tell(item, judge)

        assert (present(done.gold).value, stands(item)) == ("good", (Stage.DECIDED, False, True))

    def test_a_decision_without_our_labels_stands_and_is_disputed_no_more(
        self, project: Project, judge: User
    ) -> None:
        project.dispute_above = 0.9
        project.save()
        item = ItemFactory.create(project=project)
        agreed = NewGold(item_id=item.pk, schema=current_schema(project), value="good",
                           basis=Gold.Basis.AGREEMENT)  # fmt: skip
        import_ledger(project, [], [agreed])
        record_label(draft(item, machine(project), "bad", confidence=0.95, action="proposed"))
        assert state_of(item).disputed

        cannot_tell(item, judge)

        assert (state_of(item).disputed, Gold.objects.current().get().value) == (False, "good")
