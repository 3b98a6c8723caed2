"""Auto-accept where people's labels came with the items: nothing of it is a dead end."""

from datetime import UTC, datetime

import pytest

from apps.accounts.roles import ReviewerKind, Role
from apps.agreement.automation.guarantee import audit_of, settle_items, switch_on
from apps.agreement.automation.sample import sample_of
from apps.agreement.models import Guarantee
from apps.debates.models import Debate
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Annotator, Label
from apps.labels.services import annotator_for, annotator_for_user, record_label
from apps.labels.services import import_labels as import_rows
from apps.projects.models import Item, Project
from apps.reviews.queue.leases import claim_next_item
from tests.agreement.automation_world import asked, debated_project, drawn
from tests.debates.routing_world import debated
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import member
from tests.factories.reviews import expert

pytestmark = pytest.mark.django_db
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def brought(items: list[Item], says: str) -> None:
    """What crowd workers of elsewhere said of each item, a letter for each: ``g`` or ``b``."""
    project = items[0].project
    words = {"g": "good", "b": "bad"}
    for number, letter in enumerate(says):
        who = annotator_for(project, kind="crowd", name=f"crowd-{number}")
        imported = {"action": Label.Action.IMPORTED, "created_at": LONG_AGO}
        import_rows(project, [draft(item, who, words[letter], **imported) for item in items])


@pytest.fixture
def project() -> Project:
    made = debated_project(130)
    brought(list(made.items.order_by("pk")), "ggb")
    return made


@pytest.fixture
def made(project: Project) -> Guarantee:
    return drawn(project)


def answer_all(project: Project, who: Annotator, value: str = "good") -> None:
    for item in Item.objects.filter(project=project, pk__in=asked(project)):
        record_label(draft(item, who, value))


def test_a_drawn_item_is_asked_of_one_more_person_however_many_spoke_elsewhere(
    project: Project, made: Guarantee
) -> None:
    assert asked(project) == set(made.sample)
    user = expert(project)
    slot = claim_next_item(project=project, user=user)
    assert slot is not None
    assert slot.item_id in made.sample
    item = Item.objects.get(pk=slot.item_id)
    record_label(draft(item, annotator_for_user(project, user), "good"))
    assert slot.item_id not in asked(project), "one was wanted, and one came"
    assert slot.item_id in sample_of(made).known


@pytest.mark.thorough
def test_the_truth_of_an_item_is_what_the_project_decides_with_all_who_spoke(
    project: Project, made: Guarantee
) -> None:
    answer_all(project, person(project), "good")
    found = sample_of(made)
    assert (len(found.known), found.pending) == (122, [])
    assert not any(wrong for _, wrong in found.known.values()), "three of four say good"
    assert switch_on(made, actor=member(project, Role.MANAGER)).errors == 0


def test_where_nobody_has_a_majority_an_expert_decides(project: Project, made: Guarantee) -> None:
    answer_all(project, person(project), "bad")
    assert len(sample_of(made).pending) == 122, "two against two"
    assert asked(project) == set(made.sample)
    answer_all(project, person(project, ReviewerKind.EXPERT), "bad")
    assert [len(sample_of(made).pending), len(sample_of(made).known)] == [0, 122]


@pytest.mark.thorough
def test_an_audit_since_counts_though_labels_came_with_the_item(
    project: Project, made: Guarantee
) -> None:
    answer_all(project, person(project), "good")
    switch_on(made, actor=member(project, Role.MANAGER))
    settle_items(made)
    fresh = list(queued_items(project, 6))
    brought(fresh, "ggg")
    for item in fresh:
        debated(item, uncertainty=0.0, reasons=ONLY_AUDITED)
    left = set(Debate.objects.filter(item__in=made.sample).values_list("item_id", flat=True))
    assert asked(project) - left >= {item.pk for item in fresh}
    who = person(project)
    before = audit_of(made).n
    for item in fresh:
        record_label(draft(item, who, "bad"))
    audit = audit_of(made)
    assert (audit.n - before, audit.errors) == (6, 0), "three of four say good, as the debate did"
