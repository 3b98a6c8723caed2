"""Labels and gold carried over to a changed schema, one item at a time."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from apps.accounts.roles import ReviewerKind
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import (
    NewGold,
    NewLabel,
    carry_over,
    import_gold,
    import_labels,
    record_label,
    replan,
    withdraw_label,
)
from apps.labels.services.item_ledger import read_ledgers
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.schema import LabelDef
from labelhub.core.schema.operations import Merge, Rename, Reorder, Retire, Split
from tests.factories.labels import draft, machine, open_item, person
from tests.factories.projects import ASPECTS, ProjectFactory
from tests.factories.reviews import suggest
from tests.factories.schema_changes import begun, changed, decided, said, taken_back

EXPERT, CROWD = ReviewerKind.EXPERT, ReviewerKind.CROWD
SWAP = (Rename("good", "bad"), Rename("bad", "good"))
THREE = {"task": "single", "labels": ["a", "b", "c"]}


@pytest.fixture
def project(db: None) -> Project:
    return ProjectFactory.create()


def state(item: Item) -> ItemState:
    return ItemState.objects.get(item=item)


def test_a_label_and_its_gold_are_carried_over(project: Project) -> None:
    item, who = open_item(project), person(project)
    first = record_label(draft(item, who, "good", seconds=4.0, cost_nanousd=5, confidence=0.5,
                               provenance={"comment": "x", "guideline": 2}))  # fmt: skip
    change = changed(project, Rename("good", "fine"), reason="clearer")
    row = Label.objects.current().get(item=item)
    assert (row.value, row.supersedes, row.change_id) == ("fine", first, change.pk)
    assert (row.action, row.confidence, row.created_at) == ("new", 0.5, first.created_at)
    assert (row.seconds, row.cost_nanousd) == (None, None)  # paid once
    assert row.schema.version == 2
    assert row.provenance == {"comment": "x", "guideline": 2, "change": change.pk,
                              "migrated_from": 1}  # fmt: skip
    gold = Gold.objects.current().get(item=item)
    assert (gold.value, gold.basis, gold.decided_by) == ("fine", "review", who)
    assert (gold.evidence, gold.schema.version) == ([str(row.uid)], 2)
    assert Label.objects.count() == Gold.objects.count() == 2
    assert change.counts == {"gold_carried": 1, "items": 1, "labels:crowd": 1}


def test_what_is_not_concerned_gets_no_row(project: Project) -> None:
    item, other = open_item(project), open_item(project)
    record_label(draft(item, person(project), "bad"))
    record_label(draft(other, person(project), None, abstained=True))
    changed(project, Rename("good", "fine"))
    assert Label.objects.count() == 2
    assert Gold.objects.get().schema.version == 1


def test_carrying_over_twice_does_no_harm(project: Project) -> None:
    item = open_item(project)
    record_label(draft(item, person(project), "good"))
    change = begun(project, *SWAP)
    carry_over(change, [item.pk])
    assert said(item).popitem()[1] == "bad"
    assert carry_over(change, [item.pk]).counts["items"] == 0
    assert (decided(item), Label.objects.count()) == ("bad", 2)


def test_the_suggestion_and_what_came_from_it_stay_tied(project: Project) -> None:
    item, who = open_item(project), person(project)
    proposed = suggest(item, "good", evidence={"good": ["nice"]})
    record_label(draft(item, who, "good", action="accepted", proposed_from_id=proposed.pk))
    changed(project, Rename("good", "fine"))
    row = Label.objects.current().get(annotator=who)
    assert state(item).suggestion == row.proposed_from
    assert row.proposed_from is not None
    assert (row.action, row.proposed_from.value) == ("accepted", "fine")
    assert row.proposed_from.evidence == {"fine": ["nice"]}
    assert row.proposed_from.pk != proposed.pk


def test_a_label_that_needs_people_is_withdrawn_and_its_item_comes_back(project: Project) -> None:
    project.review_scope = "doubtful"
    project.save()
    item = open_item(project)
    suggest(item, "good")
    record_label(draft(item, person(project), "good"))
    assert (decided(item), state(item).queued) == ("good", False)
    change = changed(project, Split("good", (LabelDef("great"), LabelDef("fair"))))
    assert (said(item), decided(item)) == ({}, None)
    rows = Label.objects.filter(item=item, change=change)
    assert [row.provenance["was"] for row in rows] == ["good", "good"]
    now = state(item)
    assert (now.queued, now.reasons, now.stage) == (True, ["labels_changed"], "new")
    assert (now.suggestion, now.labels_by_people) == (None, 0)
    assert change.counts == {"asked:crowd": 1, "asked:llm": 1, "gold_withdrawn": 1, "items": 1}


def test_a_label_taken_back_without_asking_brings_nothing_into_the_queue(project: Project) -> None:
    Project.objects.update(review_scope="doubtful")
    third = ProjectFactory.create(definition=THREE, review_scope="doubtful")
    item = open_item(third)
    record_label(draft(item, person(third), "a"))
    change = changed(third, Retire("a", ask=False))
    assert (said(item), decided(item), state(item).queued) == ({}, None, False)
    assert change.counts["withdrawn:crowd"] == 1


def test_sets_are_merged_without_doubles(db: None) -> None:
    project = ProjectFactory.create(definition={"task": "multi", "labels": ["a", "b", "c"]})
    item, ada, bob = open_item(project), person(project), person(project)
    record_label(draft(item, ada, ["a", "b", "c"]))
    record_label(draft(item, bob, ["c"]))
    changed(project, Merge(("a", "b"), "ab"), Reorder(("c", "ab")))
    assert said(item) == {ada.name: ["c", "ab"], bob.name: ["c"]}


def test_a_merge_ends_conflicts_and_a_revert_brings_them_back(db: None) -> None:
    project = ProjectFactory.create(definition=THREE, overlap=2)
    item, ada, bob = open_item(project), person(project), person(project)
    record_label(draft(item, ada, "a"))
    record_label(draft(item, bob, "b"))
    assert state(item).stage == "conflict"
    change = changed(project, Merge(("a", "b"), "a"))
    assert (decided(item), state(item).stage) == ("a", "decided")
    assert change.counts["gold_made"] == 1
    taken_back(change)
    assert said(item) == {ada.name: "a", bob.name: "b"}
    assert (decided(item), state(item).stage) == (None, "conflict")


def test_labels_keep_their_order_when_only_some_are_carried(db: None) -> None:
    """The last expert beyond the overlap decides: who was carried over must not become last."""
    project = ProjectFactory.create(definition=THREE, overlap=2)
    item = open_item(project)
    for kind, value in ((EXPERT, "a"), (CROWD, "b"), (EXPERT, "c")):
        record_label(draft(item, person(project, kind), value))
    assert decided(item) == "c"
    changed(project, Rename("a", "z"))
    assert list(said(item).values()) == ["z", "b", "c"]
    assert decided(item) == "c"


def test_imported_gold_is_carried_over_or_withdrawn(db: None) -> None:
    project = ProjectFactory.create(definition=THREE)
    items = [open_item(project) for _ in "abc"]
    schema = current_schema(project)
    import_gold(project, [NewGold(item_id=item.pk, schema=schema, value=value)
                          for item, value in zip(items, "abc", strict=True)])  # fmt: skip
    changed(project, Rename("a", "A1"), Retire("b"))
    assert [decided(item) for item in items] == ["A1", None, "c"]
    assert [state(item).is_gold_question for item in items] == [True, False, True]


def test_taking_back_restores_all_but_what_was_said_since(project: Project) -> None:
    items = [open_item(project) for _ in range(3)]
    who = [person(project) for _ in items]
    for item, by in zip(items, who, strict=True):
        suggest(item, "good")
        record_label(draft(item, by, "good", seconds=3))
    before = {item.pk: said(item) for item in items}
    change = changed(project, Split("good", (LabelDef("great"), LabelDef("fair"))))
    again = record_label(draft(items[1], who[1], "fair"))
    mind = record_label(draft(items[2], who[2], "bad"))
    withdraw_label(label=mind)
    assert decided(items[1]) == "fair"
    back = taken_back(change)
    assert current_schema(project).parsed.names == ("good", "bad")
    assert said(items[0]) == before[items[0].pk]
    assert (decided(items[0]), state(items[0]).reasons) == ("good", [])
    assert said(items[1])[who[1].name] == "good"  # "fair" was a part of it
    assert Label.objects.filter(supersedes=again, change=back).exists()
    assert who[2].name not in said(items[2])  # they took it back themselves


def test_taking_back_a_swap(project: Project) -> None:
    item, late = open_item(project), open_item(project)
    record_label(draft(item, person(project), "good"))
    change = changed(project, *SWAP)
    record_label(draft(late, person(project), "good"))
    taken_back(change)
    assert (decided(item), decided(late)) == ("good", "bad")


# What decides, in every mixture: actions, marks, kinds and abstentions.
LABELS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from(["crowd", "expert", "llm", "author"]),
        st.sampled_from(["new", "imported", "accepted"]),
        st.sampled_from(["vote", "extra", "gold_question", "adjudication", "unclear"]),
    ),
    min_size=1,
    max_size=6,
)


class TestDecisions(TestCase):
    """What was decided before is what is decided afterwards, as it is called then."""

    def made(self, labels: list[tuple[Any, ...]], overlap: int, gold: str | None) -> Item:
        """An item of which all this was said."""
        project = ProjectFactory.create(definition=THREE, overlap=overlap)
        item, schema = open_item(project), current_schema(project)
        for number, (value, kind, action, role) in enumerate(labels):
            by = machine(project, f"{kind}-{number}")
            by.kind = kind
            by.save()
            row = NewLabel(
                item_id=item.pk, annotator=by, schema=schema, value=value, action=action,
                abstained=value is None,
                role="adjudication" if value and role == "unclear" else role,
            )  # fmt: skip
            import_labels(project, [row])
        if gold:
            import_gold(project, [NewGold(item_id=item.pk, schema=schema, value=gold)])
        return item

    @pytest.mark.thorough
    @settings(max_examples=20)
    @given(LABELS, st.integers(1, 3), st.sampled_from([None, None, "a"]), st.permutations("abc"))
    def test_renames_decide_nothing_anew(
        self, labels: list[tuple[Any, ...]], overlap: int, gold: str | None, to: list[str]
    ) -> None:
        item = self.made(labels, overlap, gold)
        names = dict(zip("abc", "xyz" if to == [*"abc"] else to, strict=True))
        before, was, where = said(item), decided(item), state(item)
        change = changed(item.project, *[Rename(old, new) for old, new in names.items()])
        assert said(item) == {by: names.get(value) for by, value in before.items()}
        assert decided(item) == names.get(was)
        after = state(item)
        same = ("stage", "queued", "priority", "required_labels", "labels_by_people", "audience")
        assert [getattr(after, name) for name in same] == [getattr(where, name) for name in same]
        written = Gold.objects.filter(item=item).count()
        replan(item.project)  # nor would the next one who looks decide otherwise
        assert Gold.objects.filter(item=item).count() == written
        taken_back(change)
        assert (said(item), decided(item)) == (before, was)

    @pytest.mark.thorough
    @settings(max_examples=20)
    @given(LABELS, st.integers(1, 3), st.sampled_from([None, "a"]))
    def test_after_a_merge_the_ledger_decides_as_if_it_had_always_been_so(
        self, labels: list[tuple[Any, ...]], overlap: int, gold: str | None
    ) -> None:
        item = self.made(labels, overlap, gold)
        merged = self.made([("a" if v == "b" else v, *rest) for v, *rest in labels], overlap, gold)
        changed(item.project, Merge(("a", "b"), "a"))
        assert list(said(item).values()) == list(said(merged).values())
        assert decided(item) == decided(merged)
        facts = read_ledgers([item.pk])[item.pk]
        assert [label.action for label in facts.labels] == [action_of[2] for action_of in labels]


def test_marked_places_follow(db: None) -> None:
    project = ProjectFactory.create(definition=ASPECTS)
    item = open_item(project)
    spans = {"spans": [{"label": "Food", "start": 0, "end": 4}]}
    record_label(draft(item, person(project), ["Food"], provenance=spans))
    changed(project, Rename("Food", "Dishes"))
    row = Label.objects.current().get(item=item)
    assert row.provenance["spans"] == [{"label": "Dishes", "start": 0, "end": 4}]
