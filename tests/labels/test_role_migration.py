"""A hundred thousand labels whose provenance said how they count: roles decide just the same.

The oracle below states the rules of before, which went by keys of the provenance. What it decides
is stored, the ledger is migrated, and the services find nothing to change.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from apps.labels.models import Annotator, Gold, ItemState, Label
from apps.labels.services import replan
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from tests.factories.accounts import UserFactory
from tests.factories.projects import ProjectFactory

LABELS = 100_000
BEFORE, AFTER = [("labels", "0001_initial")], [("labels", "0003_state_names")]
PEOPLE, MACHINES = ("crowd", "expert"), ("llm", "model")
#: Keys as services wrote them, by kind; `adjudicates` with `unclear` beside an abstention.
WRITTEN: dict[str, list[dict[str, Any]]] = {
    "crowd": [{}, {}, {}, {"unasked": True}, {"check": True}],
    "expert": [{}, {"unasked": True}, {"check": True}, {"adjudicates": True}],
    "author": [{}, {"advisory": True}],
    "llm": [{}],
    "model": [{}, {"learned": 3}],
}
#: Keys that a file may have brought where they mean little, or nothing.
ODD: list[dict[str, Any]] = [
    {"check": True, "adjudicates": True},
    {"unasked": True, "adjudicates": True},
    {"adjudicates": True, "unclear": True},
    {"unclear": True},
    {"check": False},
    {"unasked": 0, "advisory": "x"},
    {"learned": None},
    {"advisory": True, "unasked": True, "learned": 1},
]
GOLD = ("item", "value", "basis", "evidence", "decided_by", "withdrawn")
STATE = (
    "stage", "queued", "priority", "labels_by_people", "wanted", "suggestion_id", "gold_id",
    "audience", "known", "disputed", "kept", "reasons",
)  # fmt: skip
#: The same columns, as the third migration names them.
RENAMED = {
    "wanted": "required_labels", "known": "is_gold_question", "kept": "reserved_slots",
}  # fmt: skip


@dataclass(slots=True)
class Row:
    """One label in the old shape."""

    pk: int
    annotator: Annotator
    keys: dict[str, Any]
    value: str | None = None
    abstained: bool = False
    withdrawn: bool = False
    rejected: bool = False
    action: str = "new"
    confidence: float | None = None
    shown: int | None = None
    supersedes: int | None = None
    odd: bool = False

    @property
    def uid(self) -> UUID:
        return UUID(int=self.pk)

    @property
    def kind(self) -> str:
        return self.annotator.kind

    @property
    def speaks_here(self) -> bool:
        return self.action != "imported"


@dataclass
class Story:
    """An item's rows in order, and the gold that came with it."""

    item: Item
    rows: list[Row] = field(default_factory=list)
    gold_at_import: str | None = None

    @property
    def current(self) -> list[Row]:
        replaced = {row.supersedes for row in self.rows}
        return [row for row in self.rows if not row.withdrawn and row.pk not in replaced]


def written_stories(project: Project, random: Random, pks: "count[int]") -> Iterator[Story]:
    """Items of all sorts, without end."""
    user = UserFactory.create()
    names = [("crowd", 4), ("expert", 3), ("author", 1), ("llm", 2), ("model", 1)]
    pool = [
        Annotator.objects.create(project=project, kind=kind, name=f"{kind}-{number}",
                                 user=user if kind in PEOPLE and number == 0 else None)
        for kind, many in names for number in range(many)
    ]  # fmt: skip
    while True:
        items = [Item(project=project, external_id=f"{next(pks)}", text="x") for _ in range(1000)]
        for item in items:
            item.content_hash = item.external_id
        for item in Item.objects.bulk_create(items):
            story = Story(item)
            if random.random() < 0.05:
                story.gold_at_import = random.choice("ab")
            for _ in range(random.choice((2, 3, 4, 5, 6))):
                story.rows.append(written_row(story, random.choice(pool), random, next(pks)))
            yield story


def written_row(story: Story, annotator: Annotator, random: Random, pk: int) -> Row:
    """What ``annotator`` says next: anew, a revision, a withdrawal, a rejection, or kept aside."""
    row = Row(pk, annotator, dict(random.choice(WRITTEN[annotator.kind])))
    row.odd = random.random() < 0.04
    if row.odd:
        row.keys |= random.choice(ODD)
    if random.random() < 0.06:
        row.withdrawn, row.action = True, "imported"
        row.keys = {"aside": random.choice(("skip", "draft", "empty"))}
        if random.random() < 0.1:
            row.keys, row.odd = {"aside": random.choice((7, None, {"a": 1})), "check": 1}, True
        return row
    own = next((earlier for earlier in story.current if earlier.annotator == annotator), None)
    row.supersedes = own.pk if own else None
    if own and random.random() < 0.3:
        row.withdrawn, row.action, row.odd = True, "withdrawn", row.odd or bool(row.keys)
        return row
    suggested = [row.pk for row in story.current if row.kind in MACHINES]
    if annotator.kind in PEOPLE and suggested and random.random() < 0.1:
        row.rejected, row.shown, row.action = True, suggested[-1], "rejected"
        return row
    row.value = random.choice(("a", "a", "b", "c", None))
    row.abstained = row.value is None
    row.action = random.choice(("new", "new", "new", "imported"))
    if annotator.kind in MACHINES:
        row.action, row.confidence = "proposed", random.choice((None, 0.5, 0.95))
    if row.abstained and row.keys == {"adjudicates": True} and random.random() < 0.7:
        row.keys["unclear"] = True
    return row


@dataclass
class Verdict:
    """Gold as value, basis and evidence; None where nothing is decided."""

    value: str
    basis: str
    evidence: Sequence[Row]


def people_of(story: Story) -> list[Row]:
    """What crowd and experts say; of one user's two annotators the newer."""
    rows = [row for row in story.current if row.kind in PEOPLE and not row.rejected]
    return [
        row
        for row in rows
        if row.annotator.user_id is None
        or row is [other for other in rows if other.annotator.user_id == row.annotator.user_id][-1]
    ]


def ruling_of(counted: Sequence[Row]) -> Row | None:
    """The newest word by which an expert settled the item."""
    settling = [
        row
        for row in counted
        if row.kind == "expert"
        and row.speaks_here
        and row.keys.get("adjudicates")
        and (row.value or row.keys.get("unclear"))
    ]
    return settling[-1] if settling else None


def counted_of(story: Story) -> list[Row]:
    """Those of the people's labels that decide."""
    return [
        row
        for row in people_of(story)
        if not row.keys.get("check") and (row.kind == "expert" or not row.keys.get("unasked"))
    ]


def author_of(story: Story) -> Row | None:
    """The author's word that decides."""
    rows = [
        row
        for row in story.current
        if row.kind == "author" and row.value and row.speaks_here and not row.keys.get("advisory")
    ]
    return rows[-1] if rows else None


def majority_of(rows: Sequence[Row]) -> list[Row]:
    """The labels of more than half of them."""
    votes = Counter(row.value for row in rows if row.value)
    for value, votes_for in votes.items():
        if votes_for * 2 > len(rows):
            return [row for row in rows if row.value == value]
    return []


def verdict_of(story: Story, overlap: int) -> Verdict | None:
    """Gold by the rules of before."""
    if story.gold_at_import:
        return Verdict(story.gold_at_import, "imported", [])
    if author := author_of(story):
        return Verdict(author.value or "", "author", [author])
    counted = counted_of(story)
    if len(counted) < overlap or not any(row.speaks_here for row in counted):
        return None
    if ruling := ruling_of(counted):
        return Verdict(ruling.value, "adjudication", [ruling]) if ruling.value else None
    experts = [row for row in counted if row.kind == "expert" and row.speaks_here and row.value]
    late = [row for row in counted[overlap:] if row in experts][-1:]
    if late and not majority_of([row for row in counted if row not in late]):
        return Verdict(late[0].value or "", "adjudication", late)
    if agreeing := majority_of(counted):
        basis = "review" if len(counted) == 1 else "agreement"
        return Verdict(agreeing[-1].value or "", basis, agreeing)
    here = [row for row in counted if row.speaks_here]
    if len(here) == 1 and here[0] in experts and len(counted) > overlap:
        return Verdict(here[0].value or "", "adjudication", here)
    return None


def state_of(story: Story, project: Project, verdict: Verdict | None) -> dict[str, Any]:
    """The item's state by the rules of before."""
    people = people_of(story)
    ruling = ruling_of(counted_of(story))
    unclear = ruling is not None and ruling.value is None and author_of(story) is None
    machines = [row for row in story.current if row.kind in MACHINES]
    suggested = [row for row in machines if not row.abstained and "learned" not in row.keys]
    above = project.dispute_above
    disputed = (
        above is not None
        and not unclear
        and verdict is not None
        and verdict.basis in ("review", "agreement")
        and any(
            row.value and row.value != verdict.value and (row.confidence or 0) >= above
            for row in machines
        )
    )
    stage = "suggested" if suggested else "new"
    if people:
        begun = len(people) < project.overlap or not any(row.speaks_here for row in people)
        stage = "in_review" if begun else "unclear" if unclear else "conflict"
    if verdict:
        stage = "decided"
    contested = disputed or stage == "conflict"
    wanted = len(people) + 1 if contested else project.overlap
    imported = verdict is not None and verdict.basis == "imported"
    return {
        "stage": stage,
        "queued": len(people) < wanted,
        "priority": (200.0 if contested else 10.0) - (5.0 if imported else 0.0),
        "labels_by_people": len(people),
        "wanted": wanted,
        "suggestion_id": suggested[-1].pk if suggested else None,
        "audience": "expert" if contested else "",
        "known": verdict is not None and verdict.basis in ("imported", "adjudication"),
        "disputed": disputed,
        "kept": 0,
        "reasons": [],
    }


def described(row: Row) -> dict[str, Any]:
    """What else the provenance tells."""
    return {"comment": f"No. {row.pk}", "spans": [{"start": 0, "end": 1}]} if row.pk % 3 else {}


def store(apps: Any, project: Project, some: Sequence[Story]) -> None:
    """Labels, decisions and states as the version before stored them."""
    old_label, old_gold, old_state = (
        apps.get_model("labels", name) for name in ("Label", "Gold", "ItemState")
    )
    schema = current_schema(project)
    old_label.objects.bulk_create(
        [
            old_label(
                id=row.pk, uid=row.uid, item_id=story.item.pk, annotator_id=row.annotator.pk,
                schema_id=schema.pk, value=row.value, abstained=row.abstained,
                withdrawn=row.withdrawn, rejected=row.rejected, action=row.action,
                confidence=row.confidence, shown_id=row.shown, supersedes_id=row.supersedes,
                provenance=described(row) | row.keys,
            )
            for story in some for row in story.rows
        ]
    )  # fmt: skip
    states = []
    for story in some:
        verdict = verdict_of(story, project.overlap)
        gold = None
        if verdict:
            by = verdict.evidence[-1].annotator.pk if verdict.evidence else None
            gold = old_gold(
                item_id=story.item.pk, schema_id=schema.pk, value=verdict.value,
                basis=verdict.basis, evidence=[str(row.uid) for row in verdict.evidence],
                decided_by_id=None if verdict.basis == "agreement" else by,
            )  # fmt: skip
            gold.save()
        fields = state_of(story, project, verdict) | {"gold": gold}
        states.append(old_state(item_id=story.item.pk, project_id=project.pk, **fields))
    old_state.objects.bulk_create(states)


def migrate(targets: Sequence[tuple[str, str]]) -> Any:
    """Bring the app's tables there; the models as they are then."""
    executor = MigrationExecutor(connection)
    leaves = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] != "labels"]
    executor.migrate(list(targets))
    return MigrationExecutor(connection).loader.project_state([*leaves, *targets]).apps


@pytest.fixture
def before(transactional_db: None) -> Iterator[Any]:
    """The models of before, with the tables to them; later tests have those of today."""
    yield migrate(BEFORE)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def stored(model: Any, *fields: str) -> list[tuple[Any, ...]]:
    """All rows."""
    return list(model.objects.order_by("pk").values_list("pk", *fields).iterator())


@pytest.mark.thorough
@pytest.mark.timeout(1200)
def test_roles_decide_what_the_keys_decided(before: Any) -> None:
    projects, rows = filled(before)
    golds = stored(Gold, *GOLD)
    states = stored(before.get_model("labels", "ItemState"), *STATE)
    assert len(rows) >= LABELS
    assert {state[1] for state in states} == set(ItemState.Stage)
    assert {gold[3] for gold in golds} == set(Gold.Basis) - {Gold.Basis.WITHDRAWN}

    migrate(AFTER)

    for project in projects:
        replan(project)
    assert stored(Gold, *GOLD) == golds
    assert stored(ItemState, *(RENAMED.get(name, name) for name in STATE)) == states
    assert set(Label.objects.values_list("role", flat=True).distinct()) == set(Label.Role)
    versions, wrong = set(), []
    for pk, provenance in provenances(Label):
        versions.add(provenance.pop("model_version", 0))
        wrong += [] if provenance == described(rows[pk]) else [pk]
    assert 3 in versions
    assert wrong == []
    assert_append_only()

    again = provenances(migrate(BEFORE).get_model("labels", "Label"))
    usual = {pk: found for pk, found in again if not rows[pk].odd}
    assert len(usual) == sum(not row.odd for row in rows.values())
    assert all(found == described(rows[pk]) | rows[pk].keys for pk, found in usual.items())
    assert_append_only()


def provenances(label: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Of each label, without a hundred thousand models in memory."""
    found: Iterator[tuple[int, dict[str, Any]]] = label.objects.values_list(
        "pk", "provenance"
    ).iterator(chunk_size=5000)
    return found


def assert_append_only() -> None:
    """The database refuses to change a label."""
    with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
        cursor.execute("UPDATE labels_label SET value = %s", ['"x"'])


def filled(before: Any) -> tuple[list[Project], dict[int, Row]]:
    """Three projects with their ledgers in the old shape, and all labels by id."""
    random, pks = Random(20261127), count(1)  # noqa: S311 - the same each time
    projects = [
        ProjectFactory.create(
            definition={"task": "single", "labels": [{"name": name} for name in "abc"]},
            overlap=overlap, queue_order=Project.QueueOrder.OLDEST, dispute_above=above,
        )
        for overlap, above in ((1, None), (2, 0.9), (3, None))
    ]  # fmt: skip
    rows = {}
    for project in projects:
        stories, written = written_stories(project, random, pks), 0
        while written * len(projects) < LABELS:
            some = list(islice(stories, 1000))
            store(before, project, some)
            for story in some:
                rows.update({row.pk: row for row in story.rows})
                written += len(story.rows)
    return projects, rows
