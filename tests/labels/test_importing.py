"""Imported labels and gold: idempotent, first come first kept, histories whole."""

from uuid import uuid4

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.roles import ReviewerKind
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import (
    ImportOutcome,
    NewGold,
    import_gold,
    import_labels,
    record_label,
    replan,
)
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from tests.factories.labels import draft, machine, open_item, person, queued_items
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db
CREATED, UNCHANGED, CONFLICT = (
    ImportOutcome.CREATED,
    ImportOutcome.UNCHANGED,
    ImportOutcome.CONFLICT,
)

SQL_OF_IMPORT = 12 if connection.vendor == "postgresql" else 11


def test_the_first_label_of_a_pair_stands_and_the_rest_are_reported() -> None:
    project = ProjectFactory.create()
    item, worker = open_item(project), person(project)
    rows = [draft(item, worker, value, action="imported") for value in ("good", "good", "bad")]
    assert import_labels(project, rows) == [CREATED, UNCHANGED, CONFLICT]
    assert import_labels(project, rows) == [UNCHANGED, UNCHANGED, CONFLICT]
    assert Label.objects.get().value == "good"


def test_imported_labels_of_people_count_but_decide_nothing() -> None:
    project = ProjectFactory.create()
    item = open_item(project)
    import_labels(project, [draft(item, person(project), "good", action="imported")])
    state = ItemState.objects.get(item=item)
    assert (state.stage, state.queued, state.gold) == ("in_review", False, None)


def test_an_imported_machine_label_becomes_the_suggestion() -> None:
    project = ProjectFactory.create()
    item = open_item(project)
    import_labels(project, [draft(item, machine(project), "good", action="imported")])
    state = ItemState.objects.get(item=item)
    assert state.suggestion is not None
    assert (state.stage, state.queued) == ("suggested", True)


def test_a_history_keeps_what_superseded_what() -> None:
    project = ProjectFactory.create()
    item, worker = open_item(project), person(project)
    first, second = uuid4(), uuid4()
    rows = [
        draft(item, worker, "bad", uid=second, supersedes_uid=first, action="fixed"),
        draft(item, worker, "good", uid=first, action="new"),
    ]
    assert import_labels(project, rows) == [CREATED, CREATED]
    assert import_labels(project, rows) == [UNCHANGED, UNCHANGED]
    current = Label.objects.current().get()
    assert current.supersedes is not None
    assert (current.uid, current.supersedes.uid) == (second, first)


def test_gold_is_kept_as_it_came_and_a_different_one_is_a_conflict() -> None:
    project = ProjectFactory.create()
    item, schema = open_item(project), project.schemas.get()
    good = NewGold(item_id=item.pk, schema=schema, value="good")
    bad = NewGold(item_id=item.pk, schema=schema, value="bad")
    assert import_gold(project, [good]) == [CREATED]
    assert import_gold(project, [good]) == [UNCHANGED]
    assert import_gold(project, [bad]) == [CONFLICT]
    assert ItemState.objects.get(item=item).stage == "decided"


def test_a_gold_history_is_one_chain() -> None:
    project = ProjectFactory.create()
    item, schema = open_item(project), project.schemas.get()
    rows = [
        NewGold(item_id=item.pk, schema=schema, value="good", basis="review", uid=uuid4()),
        NewGold(
            item_id=item.pk,
            schema=schema,
            value=None,
            withdrawn=True,
            basis="withdrawn",
            uid=uuid4(),
        ),
        NewGold(item_id=item.pk, schema=schema, value="bad", basis="review", uid=uuid4()),
    ]
    assert import_gold(project, rows) == [CREATED] * 3
    assert import_gold(project, rows) == [UNCHANGED] * 3
    assert [gold.value for gold in Gold.objects.order_by("pk")] == ["good", None, "bad"]
    assert Gold.objects.current().get().value == "bad"


@pytest.mark.thorough
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    values=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from(["good", "bad"])),
        max_size=12,
    )
)
def test_importing_twice_changes_nothing(values: list[tuple[int, int, str]]) -> None:
    project: Project = ProjectFactory.create(overlap=2)
    items, workers = queued_items(project, 3), [person(project) for _ in range(3)]
    rows = [
        draft(items[index], workers[who], value, action="imported") for index, who, value in values
    ]
    first = import_labels(project, rows)
    before = list(Label.objects.filter(item__project=project).values_list("pk", "value"))
    second = import_labels(project, rows)
    assert list(Label.objects.filter(item__project=project).values_list("pk", "value")) == before
    assert [
        CREATED if now is UNCHANGED and then is CREATED else now
        for then, now in zip(first, second, strict=True)
    ] == first


def test_naming_anothers_label_opens_no_way_to_label_twice() -> None:
    project = ProjectFactory.create()
    item, ada, bob = open_item(project), person(project), person(project)
    first, second = uuid4(), uuid4()
    rows = [
        draft(item, ada, "good", action="imported", uid=first),
        draft(item, ada, "bad", action="imported", uid=second),
        draft(item, bob, "bad", action="imported", uid=uuid4(), supersedes_uid=first),
    ]
    assert import_labels(project, rows) == [CREATED, CONFLICT, CONFLICT]
    assert Label.objects.current().filter(annotator=ada).count() == 1


def test_nobody_revises_what_somebody_else_said() -> None:
    project = ProjectFactory.create(overlap=2)
    item, ada, bob = open_item(project), person(project), person(project)
    label = record_label(draft(item, ada, "good"))
    forged = draft(item, bob, "bad", supersedes_uid=label.uid, action="imported")
    assert import_labels(project, [forged]) == [CONFLICT]
    mine, theirs = uuid4(), uuid4()
    fresh = open_item(project)
    rows = [
        draft(fresh, ada, "good", uid=mine),
        draft(fresh, bob, "bad", uid=theirs, supersedes_uid=mine),
    ]
    assert import_labels(project, rows) == [CREATED, CONFLICT]
    assert Label.objects.current().filter(annotator=ada).count() == 2


def test_odd_evidence_of_imported_gold_stops_nobody() -> None:
    project = ProjectFactory.create(overlap=2)
    item = open_item(project)
    schema = current_schema(project)
    odd = NewGold(item_id=item.pk, schema=schema, value="good", basis="review", evidence=["no uid"])
    import_gold(project, [odd])
    record_label(draft(item, person(project), "good"))
    replan(project)
    assert Gold.objects.current().get().value == "good"


def test_what_holds_its_project_for_long_follows_a_changed_plan() -> None:
    project = ProjectFactory.create()
    held = Project.objects.get(pk=project.pk)
    Project.objects.update(overlap=2, review_scope="doubtful")
    items = open_item(held), open_item(project)
    import_labels(held, [draft(items[0], machine(held), "good", action="imported")])
    for state in ItemState.objects.all():
        assert (state.required_labels, state.queued) == (2, False)


@pytest.mark.parametrize("came_first", [True, False])
def test_a_label_that_is_imported_holds_up_no_expert_whenever_it_comes(
    came_first: bool,
) -> None:
    project = ProjectFactory.create()
    item = open_item(project)
    brought = draft(item, person(project), "good", action=Label.Action.IMPORTED)
    own = draft(item, person(project, ReviewerKind.EXPERT), "bad")

    if came_first:
        import_labels(project, [brought])
    record_label(own)
    if not came_first:
        import_labels(project, [brought])

    state = ItemState.objects.get()
    assert state.gold is not None
    assert (state.stage, state.queued, state.gold.value) == ("decided", False, "bad")
    assert Gold.objects.count() == 1


def test_an_expert_who_was_only_imported_breaks_no_tie() -> None:
    project = ProjectFactory.create()
    item = open_item(project)
    crowd, elsewhere = person(project), person(project, ReviewerKind.EXPERT)
    brought = [
        draft(item, crowd, None, abstained=True, action=Label.Action.IMPORTED),
        draft(item, elsewhere, "bad", action=Label.Action.IMPORTED),
    ]
    import_labels(project, brought)

    record_label(draft(item, person(project), "good"))
    state = ItemState.objects.get()
    assert (state.stage, state.queued, state.gold) == ("conflict", True, None)

    expert = person(project, ReviewerKind.EXPERT)
    record_label(draft(item, expert, None, abstained=True))
    state.refresh_from_db()
    assert (state.stage, state.gold) == ("conflict", None), "who cannot tell breaks none either"

    other = person(project, ReviewerKind.EXPERT)
    record_label(draft(item, other, "bad"))
    gold = Gold.objects.get()
    assert (gold.value, gold.basis, gold.decided_by) == ("bad", "adjudication", other)


def test_an_import_takes_as_many_queries_for_many_items_as_for_one(
    django_assert_num_queries: object,
) -> None:
    """Labels are not read back after they were written: one state, history and gold for all."""
    project = ProjectFactory.create(overlap=2)
    worker = person(project)
    for count in (1, 20):
        rows = [
            draft(item, worker, "good", action="imported") for item in queued_items(project, count)
        ]
        with django_assert_num_queries(SQL_OF_IMPORT):  # type: ignore[operator]
            import_labels(project, rows)
