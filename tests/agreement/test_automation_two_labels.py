"""A sample of which each item takes two blind labels."""

import pytest

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.agreement.automation.guarantee import (
    settle_items,
    switch_off,
    switch_on,
    watch_guarantee,
)
from apps.agreement.automation.page import automation_state
from apps.agreement.automation.promise import Terms
from apps.agreement.automation.sample import draw_sample, queue_sample, sample_of
from apps.agreement.models import Guarantee
from apps.labels.models import Gold, ItemState
from apps.projects.models import Project
from apps.reviews.adjudication.services import Ruling, adjudicate
from apps.reviews.queue.leases import claim_next_item
from tests.agreement.automation_world import asked, debated_project
from tests.agreement.test_automation_imported import brought
from tests.factories.projects import member
from tests.factories.reviews import answer, expert, reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return debated_project(12)


@pytest.fixture
def made(project: Project) -> Guarantee:
    """A sample of a few items, in the queue."""
    return drawn(project)


def drawn(project: Project) -> Guarantee:
    terms = Terms(0.5, 0.5, 0.75, labels_per_item=2)
    found = draw_sample(project, actor=member(project, Role.MANAGER), terms=terms)
    settle_items(found)
    return found


def work(project: Project, user: User, wrong: frozenset[int] = frozenset()) -> set[int]:
    """Take whatever the queue gives, and say good of all but these; the items."""
    done: set[int] = set()
    while slot := claim_next_item(project=project, user=user):
        answer(slot, user, "bad" if slot.item_id in wrong else "good")
        done.add(slot.item_id)
    return done


def test_an_item_is_known_when_two_people_agree_or_an_expert_has_decided(
    project: Project, made: Guarantee
) -> None:
    first, second, judge = (
        reviewer(project),
        reviewer(project),
        expert(project),
    )
    work(project, first)
    assert sample_of(made).pending == made.sample
    assert asked(project) == set(made.sample)
    disputed = made.sample[0]
    assert work(project, second, frozenset([disputed])) == set(made.sample), "each person once"
    found = automation_state(project)
    assert found.drawn is not None
    assert (found.drawn.pending, found.for_experts) == ([disputed], 1)
    assert set(found.drawn.known) == set(made.sample) - {disputed}
    adjudicate(project=project, user=judge, item_id=disputed, ruling=Ruling(value="bad"))
    known = sample_of(made).known
    assert {item for item, (_, wrong) in known.items() if wrong} == {disputed}
    on = switch_on(made, actor=member(project, Role.MANAGER))
    settle_items(on)
    assert (on.calibrated, on.wrong) == (len(made.sample), 1)
    assert not ItemState.objects.exclude(required_here=1).exists()
    assert Gold.objects.filter(item__in=made.sample, superseded_by=None).count() == len(made.sample)


def test_two_people_are_asked_however_many_labels_came_with_the_items(project: Project) -> None:
    brought(list(project.items.all()), "ggb")
    made = drawn(project)
    assert set(made.sample) <= work(project, reviewer(project))
    assert sample_of(made).pending == made.sample
    assert work(project, reviewer(project)) == set(made.sample)
    assert (sample_of(made).pending, len(sample_of(made).known)) == ([], len(made.sample))


def test_a_discarded_sample_leaves_one_label_to_decide(project: Project, made: Guarantee) -> None:
    who = reviewer(project)
    work(project, who)
    assert queue_sample(made) == 0
    switch_off(made, actor=member(project, Role.MANAGER))
    settle_items(made)
    decided = ItemState.objects.filter(item__in=made.sample, stage=ItemState.Stage.DECIDED)
    assert decided.count() == len(made.sample)
    assert work(project, reviewer(project)) == set()


def test_a_job_that_queues_a_sample_while_it_is_discarded_leaves_nothing_behind(
    project: Project, made: Guarantee
) -> None:
    slow = Guarantee.objects.get(pk=made.pk)
    switch_off(made, actor=member(project, Role.MANAGER))
    settle_items(made)
    watch_guarantee(slow)
    settle_items(slow)
    assert Guarantee.objects.get(pk=made.pk).applied
    assert not ItemState.objects.exclude(required_here=1).exists()
    assert not ItemState.objects.filter(reasons=["audit"]).exists()
