"""Labels in use are changed: begun once, carried over in chunks, while people go on labelling."""

from typing import Any

import pytest
from django.db import DatabaseError
from django.db.models import RestrictedError

from apps.common.jobs import waiting_jobs
from apps.common.models import Job
from apps.debates.models import Run
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import record_label
from apps.projects.changes import Translator
from apps.projects.models import LabelSchema, Project, SchemaChange
from apps.projects.selectors import current_schema
from apps.projects.services import delete_project, set_schema
from apps.reviews.models import Decision, Slot
from apps.reviews.queue.answers import Answer, LabelsChanged
from apps.reviews.queue.submission import submit_label
from apps.reviews.queue.undo import undo_last
from apps.reviews.schema_changes import services
from apps.reviews.schema_changes.preview import preview_change
from apps.reviews.schema_changes.services import (
    begin_change,
    draft_change,
    resume_change,
    run_change,
)
from labelhub.core.errors import Conflict
from labelhub.core.schema import LabelDef, ValueNotOffered, schema_from_names
from labelhub.core.schema.operations import Add, InvalidChange, Merge, Rename, Retire, Split
from tests.cases import present
from tests.factories.labels import draft, open_item, person, queued_items
from tests.factories.projects import ASPECTS
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, suggest, token
from tests.factories.schema_changes import begun, changed, decided, said, taken_back

pytestmark = pytest.mark.django_db
SWAP = (Rename("good", "bad"), Rename("bad", "good"))


def test_a_change_makes_a_version_and_carries_the_labels_over(project: Project) -> None:
    user = reviewer(project)
    queued_items(project, 2)
    done = [answer(claim(project, user), user, value).label for value in ("good", "bad")]
    change = changed(project, *SWAP)
    assert [decided(label.item) for label in done] == ["bad", "good"]
    assert (change.status, change.items_done, change.items_total) == ("done", 2, 2)
    schema = current_schema(project)
    assert (schema.version, schema.carrying, schema.parsed.names) == (2, False, ("bad", "good"))


def test_a_change_that_changes_nothing_is_refused(project: Project) -> None:
    with pytest.raises(InvalidChange, match="changes nothing"):
        draft_change(project, [Rename("good", "good")])


def test_two_changes_at_once_are_impossible(project: Project) -> None:
    first, second = (draft_change(project, [Rename("good", to)]) for to in ("fine", "ok"))
    begin_change(first, launch=False)
    with pytest.raises(Conflict, match="changed meanwhile"):
        begin_change(second, launch=False)
    with pytest.raises(Conflict, match="are being changed"):
        begin_change(draft_change(project, [Rename("fine", "ok")]), launch=False)
    with pytest.raises(Conflict, match="are being changed"):
        set_schema(project=project, schema=schema_from_names("single", "abc"), actor=None)
    run_change(first.pk)
    assert changed(project, Rename("fine", "ok")).status == "done"


@pytest.mark.parametrize("status", ["queued", "running", "paused"])
def test_a_run_that_may_go_on_has_to_end_first(project: Project, status: str) -> None:
    schema = current_schema(project)
    run = Run.objects.create(project=project, protocol="single", schema=schema, status=status)
    with pytest.raises(Conflict, match=f"Run {run.pk} is .* cancel it"):
        begun(project, Rename("good", "fine"))
    assert current_schema(project) == schema
    Run.objects.update(status="cancelled")
    assert begun(project, Rename("good", "fine")).status == "running"


def test_what_was_killed_goes_on_where_it_stopped(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "CHUNK", 2)
    items = [open_item(project) for _ in range(7)]
    who = person(project)
    for item in items:
        record_label(draft(item, who, "good"))
    change, carry, calls = begun(project, *SWAP), services.carry_items, []

    def killed(*arguments: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 3:
            raise DatabaseError("gone")
        return carry(*arguments)

    monkeypatch.setattr(services, "carry_items", killed)
    with pytest.raises(DatabaseError):
        run_change(change.pk)
    change.refresh_from_db()
    assert (change.items_done, change.status) == (4, "running")
    assert [decided(item) for item in items] == ["bad"] * 4 + ["good"] * 3
    Job.objects.update(lease_until=None)
    assert run_change(change.pk).status == "done"
    assert [decided(item) for item in items] == ["bad"] * 7
    assert Label.objects.count() == Gold.objects.count() == 14


def test_who_lost_the_lease_writes_nothing_more(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, carry = open_item(project), services.carry_items
    record_label(draft(item, person(project), "good"))
    change = begun(project, *SWAP)

    def late(*arguments: Any) -> Any:
        Job.objects.update(lease_token=None)  # another worker took it
        return carry(*arguments)

    monkeypatch.setattr(services, "carry_items", late)
    assert run_change(change.pk).status == "running"
    assert decided(item) == "good"


def test_a_fault_of_the_server_is_told_and_can_be_gone_on_from(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = open_item(project)
    record_label(draft(item, person(project), "good"))
    change = begun(project, *SWAP)
    with monkeypatch.context() as patch:
        patch.setattr(services, "carry_items", lambda *_: 1 / 0)
        stopped = run_change(change.pk)
    assert (stopped.status, "ZeroDivisionError" in stopped.message) == ("failed", True)
    assert waiting_jobs(services.KIND) == []
    with pytest.raises(Conflict):
        begun(project, Rename("good", "ok"))
    assert resume_change(stopped)
    assert not resume_change(stopped)
    assert run_change(change.pk).status == "done"
    assert decided(item) == "bad"


def test_an_answer_to_an_item_not_carried_over_yet(project: Project) -> None:
    """The item is carried over first: what others said counts as what it means now."""
    Project.objects.update(overlap=2)
    (item,) = queued_items(project, 1)
    ada, bob = reviewer(project), reviewer(project)
    proposed = suggest(item, "good")
    first = answer(claim(project, ada), ada, "good", shown=proposed.pk)
    slot = claim(project, bob)
    change = begun(project, *SWAP)
    meant = Answer(value="good", schema_version=1, shown=proposed.pk)
    done = submit_label(
        project=project, user=bob, item_id=item.pk, lease_token=token(slot), answer=meant
    )
    assert (done.label.value, done.label.action) == ("bad", "accepted")
    assert (done.label.schema.version, decided(item)) == (2, "bad")
    assert done.label.proposed_from == ItemState.objects.get(item=item).suggestion
    run_change(change.pk)
    assert set(said(item).values()) == {"bad"}
    assert Label.objects.filter(supersedes=first.label).count() == 1
    assert Label.objects.filter(supersedes=done.label).count() == 0


def test_an_old_page_says_what_it_meant(project: Project) -> None:
    (item,) = queued_items(project, 1)
    user = reviewer(project)
    slot = claim(project, user)
    changed(project, *SWAP)
    changed(project, Rename("good", "great"))
    assert answer(slot, user, "bad", schema_version=1).label.value == "great"
    assert decided(item) == "great"


def test_an_old_page_whose_choice_is_no_more_is_refused_in_words(project: Project) -> None:
    (item,) = queued_items(project, 1)
    user = reviewer(project)
    slot = claim(project, user)
    changed(project, Split("good", (LabelDef("great"), LabelDef("fair"))))
    with pytest.raises(LabelsChanged, match="no current label replaces 'good'"):
        answer(slot, user, "good", schema_version=1)
    with pytest.raises(ValueNotOffered):
        answer(slot, user, "good")
    with pytest.raises(ValueNotOffered):
        answer(slot, user, "<b>", schema_version=1)
    assert said(item) == {}
    assert answer(slot, user, "bad", schema_version=1).label.value == "bad"


def test_none_of_these_says_nothing_of_a_label_that_came_later() -> None:
    project = new_project(definition=ASPECTS)
    (item,) = queued_items(project, 1)
    user = reviewer(project)
    slot = claim(project, user)
    changed(project, Add(LabelDef("Parking")))
    with pytest.raises(LabelsChanged, match="Labels have been added"):
        answer(slot, user, [], schema_version=1)
    assert said(item) == {}
    assert answer(slot, user, ["Food"], schema_version=1).label.value == ["Food"]


def test_a_set_that_lost_its_only_label_is_not_taken_for_none_of_these() -> None:
    project = new_project(definition=ASPECTS)
    (item,) = queued_items(project, 1)
    user = reviewer(project)
    slot = claim(project, user)
    changed(project, Retire("Food"))
    with pytest.raises(LabelsChanged, match="no current label replaces 'Food'"):
        answer(slot, user, ["Food"], schema_version=1)
    assert said(item) == {}
    assert answer(slot, user, ["Food", "Service"], schema_version=1).label.value == ["Service"]
    assert answer(slot, user, [], schema_version=1).label.value == []


def test_a_repeated_answer_is_stored_once_also_across_a_change(project: Project) -> None:
    queued_items(project, 1)
    user = reviewer(project)
    slot = claim(project, user)
    answer(slot, user, "good", schema_version=1)
    changed(project, *SWAP)
    again = answer(slot, user, "good", schema_version=1)
    assert (again.created, again.label.value) == (False, "bad")
    assert Label.objects.count() == 2


def test_undo_and_revision_find_the_label_that_was_carried_over(project: Project) -> None:
    (item,) = queued_items(project, 1)
    user = expert(project)
    answer(claim(project, user), user, "good")
    changed(project, Rename("good", "fine"))
    row = Label.objects.current().get()
    assert Slot.objects.get().label == Decision.objects.get().label == row
    undone = present(undo_last(project=project, user=user))
    assert undone.slot is not None
    assert (said(item), decided(item)) == ({}, None)
    assert answer(undone.slot, user, "fine").label.value == "fine"


def test_what_came_late_under_the_old_version_is_carried_over_at_the_end(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import may have read the schema before and write after its item's turn."""
    item, who, old = open_item(project), person(project), current_schema(project)
    change, finish = begun(project, *SWAP), services._finish

    def late(held: SchemaChange) -> None:
        new_label = draft(item, who, "good")
        record_label(type(new_label)(item_id=item.pk, annotator=who, schema=old, value="good"))
        finish(held)

    monkeypatch.setattr(services, "_finish", late)
    assert run_change(change.pk).status == "done"
    assert decided(item) == "bad"


def test_the_preview_counts_and_writes_nothing(project: Project) -> None:
    Project.objects.update(overlap=2)
    items = [open_item(project, text="<script>x</script>") for _ in range(3)]
    ada, bob = person(project), person(project)
    for item, values in zip(items, ("good bad", "good good", "bad bad"), strict=True):
        suggest(item, "good")
        for by, value in zip((ada, bob), values.split(), strict=True):
            record_label(draft(item, by, value))
    before = Label.objects.count(), Gold.objects.count(), LabelSchema.objects.count()
    change = draft_change(project, [Split("good", (LabelDef("a"), LabelDef("b")))])
    preview = preview_change(change)
    assert preview["labels"] == {"carried": {}, "asked": {"llm": 3, "crowd": 3}, "withdrawn": {},
                              "restored": {}}  # fmt: skip
    assert preview["gold"] == {"carried": 0, "asked": 1, "withdrawn": 0}
    assert preview["decisions"] == {"looked_at": 3, "all": True, "stay": False, "conflicts_gone": 1,
                                 "conflicts_new": 0, "decided": 0, "undecided": 1}  # fmt: skip
    (part,) = preview["operations"]
    assert part["labels"] == {"llm": 3, "crowd": 3}
    assert "“good” is split into “a” and “b”; people choose again" in part["words"]
    assert [example["external_id"] for example in preview["examples"]] == [
        item.external_id for item in items
    ]
    assert preview["examples"][1]["labels"][1]["before"] == "good"
    assert before == (Label.objects.count(), Gold.objects.count(), LabelSchema.objects.count())
    assert SchemaChange.objects.count() == 0


def test_the_preview_of_a_merge_tells_which_conflicts_end(db: None) -> None:
    names = {"task": "single", "labels": ["a", "b", "c"]}
    project = new_project(definition=names, overlap=2)
    item = open_item(project)
    for value in "ab":
        record_label(draft(item, person(project), value))
    preview = preview_change(draft_change(project, [Merge(("a", "b"), "ab")]))
    assert preview["decisions"]["conflicts_gone"] == preview["decisions"]["decided"] == 1
    assert preview["labels"]["carried"] == {"crowd": 2}
    change = changed(project, Merge(("a", "b"), "ab"))
    back = preview_change(draft_change(project, [], reverts=change))
    assert back["labels"]["restored"] == {"crowd": 2}
    assert (back["decisions"]["conflicts_new"], back["decisions"]["undecided"]) == (1, 1)


def test_only_the_last_change_is_taken_back(project: Project) -> None:
    first = changed(project, Rename("good", "fine"))
    changed(project, Rename("bad", "poor"))
    with pytest.raises(Conflict, match="Only the last change"):
        taken_back(first)


def test_what_was_said_before_is_understood_through_all_changes(project: Project) -> None:
    changed(project, *SWAP)
    split = changed(project, Split("good", (LabelDef("great"), LabelDef("fair"))))
    translator = Translator.of(project.pk)
    assert [translator.value(1, name) for name in ("good", "bad")] == ["bad", None]
    assert [translator.touches(version) for version in (1, 2, 3)] == [True, True, False]
    taken_back(split)
    translator = Translator.of(project.pk)
    assert [translator.value(1, name) for name in ("good", "bad")] == ["bad", "good"]
    assert [translator.value(3, name) for name in ("bad", "fair")] == ["bad", "good"]


def test_carried_labels_go_with_their_project_alone(project: Project) -> None:
    user = reviewer(project)
    queued_items(project, 1)
    answer(claim(project, user), user, "good")
    change = changed(project, *SWAP)
    with pytest.raises(RestrictedError):
        change.delete()
    assert Label.objects.filter(change=change).exists()
    delete_project(project=project, actor=None)
    assert not Label.objects.exists()
