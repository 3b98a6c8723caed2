"""Anchoring: of a share of the items a reviewer sees no suggestion, wherever they look."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.models import User
from apps.labels.models import ItemState
from apps.projects.models import Item, Project
from apps.reviews.models import Decision
from apps.reviews.queue.item_context import review_task
from apps.reviews.queue.selectors import arm_of
from tests.factories.accounts import browser_of
from tests.factories.labels import queued_items
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, suggest

pytestmark = pytest.mark.django_db
PROJECT = {"blind_share": 1.0}
Arm = Decision.Arm


def test_what_is_withheld_is_not_shown(project: Project, item: Item, person: User) -> None:
    suggest(item, "good", evidence={"good": ["food"]}, reasons=["dissent"])

    task = review_task(project, slot=claim(project, person))

    assert task.suggestion is None
    assert not task.quoted
    assert not any(choice.suggested for choice in task.choices)
    assert (task.debated, task.reasons, task.state.stage) == (False, [], ItemState.Stage.NEW)


def test_an_answer_without_suggestion_owes_it_nothing(project: Project, person: User) -> None:
    (item,) = queued_items(project, 1)
    proposed = suggest(item, "good")

    done = answer(claim(project, person), person, "good", shown=proposed.pk)

    assert (done.label.action, done.label.proposed_from) == ("new", None)
    assert (done.decision.arm, done.decision.suggestion) == (Arm.WITHHELD, proposed)
    assert done.label.provenance["arm"] == "withheld"


def test_the_other_arm_is_told_too() -> None:
    project = new_project(blind_share=1e-12)
    (item,) = queued_items(project, 1)
    proposed = suggest(item, "good")
    person = reviewer(project)

    done = answer(claim(project, person), person, "good")

    assert (done.label.action, done.label.proposed_from) == ("accepted", proposed)
    assert (done.decision.arm, done.decision.suggestion) == (Arm.SHOWN, proposed)


def test_no_other_page_tells(project: Project, item: Item, person: User) -> None:
    suggest(item, "good")
    client = browser_of(person)
    before = f"/p/{project.slug}"

    debate = client.get(f"{before}/review/items/{item.pk}/debate/").content.decode()
    listed = client.get(f"{before}/items/").context["rows"]
    row = client.get(f"/api/v1/items/{item.pk}/").json()
    labels = client.get(f"/api/v1/projects/{project.slug}/labels/").json()

    assert "You see the debate after you have labelled this item" in debate
    assert [found.stage for found in listed] == ["Not labelled"]
    assert (row["suggestion"], row["stage"], labels["count"]) == (None, "new", 0)


def test_experts_who_settle_a_conflict_see_everything(project: Project, person: User) -> None:
    state = ItemState(item_id=1, suggestion_id=1, stage=ItemState.Stage.CONFLICT)

    assert arm_of(project, expert(project).pk, state) is None


@pytest.mark.thorough
@given(st.integers(1, 10**6), st.floats(0.05, 0.95))
def test_the_share_is_kept_for_every_person(user: int, share: float) -> None:
    project = Project(blind_share=share)
    states = [ItemState(item_id=item, suggestion_id=1) for item in range(2000)]

    withheld = sum(arm_of(project, user, state) == Arm.WITHHELD for state in states)

    assert abs(withheld / len(states) - share) < 0.07  # six standard errors


def test_who_was_handed_the_item_before_it_had_a_suggestion_is_of_neither_arm() -> None:
    project = new_project(blind_share=1e-9)
    (item,) = queued_items(project, 1)
    person = reviewer(project)
    slot = claim(project, person)
    suggest(item, "good")

    done = answer(slot, person, "good", shown=0)

    assert (done.decision.arm, done.decision.suggestion) == ("", None)
