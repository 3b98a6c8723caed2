"""Items of known answer: mixed in to check people, and to be answered before real work."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.models import ItemState, Label
from apps.labels.services import NewGold, import_gold
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from apps.reviews.models import Purpose, ReviewerStatus, Slot
from apps.reviews.queue.leases import ReviewerPaused, claim_next_item, release_leases
from apps.reviews.queue.status import queue_status
from apps.reviews.queue.submission import postpone_item, skip_item
from apps.reviews.queue.undo import undo_last
from tests.cases import present
from tests.factories.accounts import browser_of
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, new_project, reviewer, token

pytestmark = pytest.mark.django_db
PROJECT = {"check_share": 1.0}


def with_gold(project: Project, count: int, value: str = "good") -> list[Item]:
    """Items that came with their answer."""
    items = queued_items(project, count)
    schema = current_schema(project)
    import_gold(project, [NewGold(item_id=item.pk, schema=schema, value=value) for item in items])
    return items


def test_a_known_item_comes_among_the_others(project: Project) -> None:
    queued_items(project, 3)
    (known,) = with_gold(project, 1)

    slot = claim(project, reviewer(project))

    assert (slot.item_id, slot.purpose, slot.number) == (known.pk, Purpose.CHECK, None)


@pytest.mark.parametrize(("value", "correct"), [("good", True), ("bad", False)])
def test_the_answer_is_compared_with_what_is_known(
    project: Project, person: User, value: str, correct: bool
) -> None:
    with_gold(project, 1)

    done = answer(claim(project, person), person, value)

    assert (done.decision.purpose, done.decision.correct) == (Purpose.CHECK, correct)
    assert (done.decision.extra, done.decision.late) == (False, False)
    assert done.label.role == Label.Role.GOLD_QUESTION


def test_an_answer_never_changes_what_is_known(project: Project) -> None:
    (known,) = with_gold(project, 1)
    for _ in range(3):
        person = reviewer(project)
        answer(claim(project, person), person, "bad")

    state = ItemState.objects.select_related("gold").get(item=known)
    assert (state.stage, state.gold and state.gold.value) == ("decided", "good")


def test_any_number_of_people_hold_one_at_a_time(project: Project) -> None:
    (known,) = with_gold(project, 1)

    held = [claim(project, reviewer(project)).item_id for _ in range(4)]

    assert held == [known.pk] * 4


def test_nobody_is_checked_by_the_same_item_twice(project: Project, person: User) -> None:
    (known,) = with_gold(project, 1)
    (other,) = queued_items(project, 1)
    answer(claim(project, person), person, "good")

    assert claim(project, person).item_id == other.pk
    undo_last(project=project, user=person)
    assert Slot.objects.filter(item=known, holder=person).count() == 1


def test_who_leaves_and_comes_back_has_the_same_item(project: Project, person: User) -> None:
    queued_items(project, 3)
    with_gold(project, 5)
    slot = claim(project, person)

    assert release_leases(project=project, user=person, tokens=[token(slot)]) == 1

    project.check_share = 0.000001  # that the draw decides nothing
    again = claim(project, person)
    assert (again.pk, again.purpose) == (slot.pk, Purpose.CHECK)
    assert again.lease_token != slot.lease_token


def test_a_lapsed_lease_uses_up_no_known_item() -> None:
    project = new_project(qualify_items=1)
    (known,) = with_gold(project, 1)
    person = reviewer(project)
    claim(project, person)
    Slot.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    assert claim(project, person).item_id == known.pk


def test_what_was_put_off_or_skipped_comes_back_as_any_other(project: Project) -> None:
    (known,) = with_gold(project, 1)
    person = reviewer(project)

    postpone_item(project=project, user=person, item_id=claim(project, person).item_id)
    again = claim(project, person)
    skip_item(project=project, user=person, item_id=again.item_id, lease_token=again.lease_token)
    nothing = claim_next_item(project=project, user=person)
    undone = present(undo_last(project=project, user=person))

    assert (again.item_id, nothing) == (known.pk, None)
    assert undone.slot is not None
    assert (undone.slot.item_id, undone.slot.purpose) == (known.pk, Purpose.CHECK)


def test_an_answer_that_comes_after_leaving_still_tells_of_the_person(project: Project) -> None:
    with_gold(project, 1)
    person = reviewer(project)
    slot = claim(project, person)
    release_leases(project=project, user=person, tokens=[token(slot)])

    done = answer(slot, person, "bad")

    assert (done.decision.purpose, done.decision.correct) == (Purpose.CHECK, False)


def test_who_cannot_qualify_is_told_so() -> None:
    project = new_project(qualify_items=2)
    queued_items(project, 3)
    person = reviewer(project)

    assert claim_next_item(project=project, user=person) is None

    status = queue_status(project, person)
    assert status.nothing_left
    assert status.qualifying is not None
    assert (status.qualifying.done, status.qualifying.needed, status.qualifying.left) == (0, 2, 0)


def test_managers_need_not_qualify() -> None:
    project = new_project(qualify_items=2)
    queued_items(project, 1)

    assert claim(project, member(project, Role.MANAGER)).purpose == Purpose.WORK


def test_no_door_tells_a_reviewer_what_is_known() -> None:
    project = new_project(check_share=0.5)
    (known,) = with_gold(project, 1)
    client = browser_of(reviewer(project))
    root = f"/api/v1/projects/{project.slug}"

    row = client.get(f"/api/v1/items/{known.pk}/").json()
    page = client.get(f"/p/{project.slug}/items/{known.pk}/").content.decode()
    files = [
        client.get(f"{root}/export/?format=jsonl"),
        client.get(f"/p/{project.slug}/export/download/?format=csv"),
    ]

    assert (row["gold"], row["stage"]) == (None, "new")
    assert client.get(f"{root}/gold/").json()["count"] == 0
    assert "Imported with the item" not in page
    assert [answer.status_code for answer in files] == [403, 403]


def test_who_answered_enough_is_let_to_work() -> None:
    project = new_project(qualify_items=2)
    (real,) = queued_items(project, 1)
    with_gold(project, 2)
    person = reviewer(project)
    for _ in range(2):
        answer(claim(project, person), person, "good")

    assert claim(project, person).item_id == real.pk
    assert ReviewerStatus.objects.get(user=person).status == ReviewerStatus.Status.ACTIVE


def test_who_answered_badly_is_paused_with_the_count() -> None:
    project = new_project(qualify_items=2)
    with_gold(project, 2)
    person = reviewer(project)
    for value in ("good", "bad"):
        answer(claim(project, person), person, value)

    with pytest.raises(ReviewerPaused, match="1 of 2 right, 2 were needed"):
        claim_next_item(project=project, user=person)
