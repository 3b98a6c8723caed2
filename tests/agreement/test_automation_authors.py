"""Auto-accept where authors have said what they meant: that is the truth of their items."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.roles import Role
from apps.agreement.automation.guarantee import audit_of, switch_on
from apps.agreement.automation.page import automation_state
from apps.agreement.automation.pool import count_pool
from apps.agreement.automation.sample import sample_of
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import Label
from apps.labels.services import annotator_for, record_label
from apps.labels.services import import_labels as import_rows
from apps.projects.models import Item, Project
from tests.agreement.automation_world import answer, asked, debated_project, drawn
from tests.debates.routing_world import debated
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import member

pytestmark = pytest.mark.django_db
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def project() -> Project:
    return debated_project(130)


def meant(items: list[Item], value: str | None, name: str = "writer", **fields: Any) -> None:
    """What the author of these items said of them, as a file brings it."""
    project = items[0].project
    who = annotator_for(project, kind="author", name=name)
    given = {"action": Label.Action.IMPORTED, "created_at": LONG_AGO} | fields
    import_rows(project, [draft(item, who, value, **given) for item in items])


def items_of(project: Project) -> list[Item]:
    return list(project.items.order_by("pk"))


def test_what_authors_said_elsewhere_decides_a_sample_at_once(project: Project) -> None:
    meant(items_of(project), "bad")
    made = drawn(project)
    found = sample_of(made)
    assert (len(found.known), found.pending) == (122, [])
    assert all(wrong for _, wrong in found.known.values()), "the debates said good"
    assert asked(project) == set(), "nobody need be asked for the sample's sake"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "answer",
    [
        {"value": None, "abstained": True},
        {"value": "bad", "role": Label.Role.ADVISORY},
    ],
    ids=["cannot tell", "told, not decided"],
)
def test_some_answers_of_authors_decide_nothing(project: Project, answer: dict[str, Any]) -> None:
    meant(items_of(project), **answer)
    made = drawn(project)
    assert len(sample_of(made).pending) == 122
    assert asked(project) == set(made.sample)
    assert (count_pool(project).decided, automation_state(project).decided_before) == (0, [])


def test_what_an_author_took_back_or_corrected_before_is_not_their_word(project: Project) -> None:
    items = items_of(project)
    meant(items, "bad")
    later = LONG_AGO + timedelta(days=1)
    meant(items[:60], None, withdrawn=True, supersedes_own=True, created_at=later)
    meant(items[60:], "good", supersedes_own=True, created_at=later)
    found = sample_of(drawn(project))
    assert set(found.pending) <= {item.pk for item in items[:60]}
    assert len(found.known) + len(found.pending) == 122
    assert not any(wrong for _, wrong in found.known.values())


@pytest.mark.thorough
def test_who_takes_the_word_back_after_the_drawing_does_not_take_the_error_out(
    project: Project,
) -> None:
    meant(items_of(project)[:100], "bad")
    made = drawn(project)
    before = sample_of(made)
    now = timezone.now()
    meant(items_of(project)[:50], None, withdrawn=True, supersedes_own=True, created_at=now)
    meant(items_of(project)[50:100], "good", supersedes_own=True, created_at=now)
    assert sample_of(made) == before


@pytest.mark.thorough
def test_the_truth_of_an_audited_item_is_the_authors_too(project: Project) -> None:
    made, who = drawn(project), person(project)
    answer(project, who)
    switch_on(made, actor=member(project, Role.MANAGER))
    fresh = list(queued_items(project, 6))
    meant(fresh, "bad")
    for item in fresh:
        debated(item, uncertainty=0.0, reasons=ONLY_AUDITED)
    assert audit_of(made).n == 0, "nobody has answered an audit yet"
    for item in fresh:
        record_label(draft(item, who, "good"))
    assert (audit_of(made).n, audit_of(made).errors) == (6, 6)
