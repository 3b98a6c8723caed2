"""Taking a bulk job back, item by item, where nobody has changed since what it did."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any
from uuid import uuid4

from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.labels.models import Assignment, ItemState, Label
from apps.labels.services import ImportOutcome, NewLabel, import_labels
from apps.labels.services.queue import keep_for_kind, promote_items, unassign_items
from apps.projects.changes import Translator
from apps.projects.selectors import current_schema
from apps.reviews.models import BulkChange, BulkJob, Decision
from apps.reviews.services.bulk.acting import BULK

Action = BulkJob.Action
States = dict[int, ItemState]


def take_back(job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
    """Take back what the job did to items whose ``states`` are locked; of how many items."""
    return _BACK[Action(job.action)](job, changes, states)


def _labels(job: BulkJob, changes: Sequence[BulkChange], _states: States) -> int:
    """What was superseded or withdrawn since stays as it is."""
    ids = [change.label_id for change in changes if change.label_id]
    standing = Label.objects.current().filter(pk__in=ids).select_related("annotator")
    told = {"undone_by": job.counts.get("undone_by", ""), BULK: job.pk}
    drafts = [
        NewLabel(
            item_id=label.item_id,
            annotator=label.annotator,
            schema=current_schema(job.project),
            value=None,
            withdrawn=True,
            action=Label.Action.WITHDRAWN,
            supersedes_uid=label.uid,
            provenance=told,
        )
        for label in standing
    ]
    outcomes = import_labels(job.project, drafts) if drafts else []
    return outcomes.count(ImportOutcome.CREATED)


def _assignments(job: BulkJob, changes: Sequence[BulkChange], _states: States) -> int:
    """From whom the job gave it to, while they still have it and have not answered."""
    items = [change.item_id for change in changes]
    held = set(Assignment.objects.filter(item__in=items, open=True).values_list("item", "user"))
    by_person: dict[int, list[int]] = {}
    back = set()
    for change in changes:
        added = change.before.get("added", [])
        if added and all((change.item_id, user) in held for user in added):
            back.add(change.item_id)
            for user in added:
                by_person.setdefault(user, []).append(change.item_id)
    people = User.objects.in_bulk(by_person)
    for user, ids in by_person.items():
        unassign_items(job.project, ids, [people[user]])
    _leave_again([change for change in changes if change.item_id in back])
    return len(back)


def _leave_again(changes: Sequence[BulkChange]) -> None:
    """Who had left an item to others, or for later, has left it again, if they did not since."""
    skips = [pk for change in changes for pk in change.before.get("skips", ())]
    since = Decision.objects.filter(
        item=OuterRef("item"),
        reviewer=OuterRef("reviewer"),
        label__isnull=True,
        undone_at__isnull=True,
    )
    Decision.objects.filter(~Exists(since), pk__in=skips).order_by().update(undone_at=None)


def _audience(job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
    def unchanged(state: ItemState) -> bool:
        return bool(state.assigned_kind == job.options["kind"])

    groups = _grouped(changes, states, "kind", unchanged)
    return sum(keep_for_kind(job.project, ids, kind) for kind, ids in groups.items())


def _promoted(job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
    def unchanged(state: ItemState) -> bool:
        return bool(state.promoted == job.options["promoted"])

    groups = _grouped(changes, states, "promoted", unchanged)
    return sum(promote_items(job.project, ids, promoted=was) for was, ids in groups.items())


def _grouped(
    changes: Sequence[BulkChange],
    states: States,
    name: str,
    unchanged: Callable[[ItemState], bool],
) -> dict[Any, list[int]]:
    """What was before → the items, of those that still are as the job left them."""
    groups: dict[Any, list[int]] = {}
    for change in changes:
        state = states.get(change.item_id)
        if state is not None and unchanged(state):
            groups.setdefault(change.before[name], []).append(change.item_id)
    return groups


def _returned(job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
    """What was withdrawn is said anew, in the names of those who had said it, of items of which
    nobody has said anything since; what nothing of today stands for is not.
    Who had left such an item to others is not asked again."""
    items = [change.item_id for change in changes]
    said = Label.objects.current().by_people().filter(item__in=items)
    answered = set(said.exclude(action=Label.Action.IMPORTED).values_list("item_id", flat=True))
    back = [change for change in changes if change.item_id not in answered]
    ids = [pk for change in back for pk in change.before["labels"]]
    labels = Label.objects.filter(pk__in=ids).select_related("annotator", "schema").order_by("pk")
    drafts = list(_said_anew(job, labels))
    import_labels(job.project, drafts)
    said_again = {draft.item_id for draft in drafts}
    back = [change for change in back if change.item_id in said_again]
    _leave_again(back)
    lifted = [
        change.item_id
        for change in back
        if not change.before["promoted"] and states[change.item_id].promoted
    ]
    promote_items(job.project, lifted, promoted=False)
    return len(back)


def _said_anew(job: BulkJob, labels: Iterable[Label]) -> Iterator[NewLabel]:
    """Without the time it took: that was counted once. Under the names of today."""
    schema, told = current_schema(job.project), Translator.of(job.project_id)
    for label in labels:
        value = told.value(label.schema.version, label.value)
        if value is None and not (label.abstained or label.rejected):
            continue
        yield NewLabel(
            item_id=label.item_id,
            annotator=label.annotator,
            schema=schema,
            value=value,
            action=label.action,
            role=label.role,
            abstained=label.abstained,
            rejected=label.rejected,
            confidence=label.confidence,
            rationale=label.rationale,
            evidence=told.evidence(label.schema.version, label.evidence),
            shown_id=label.shown_id,
            proposed_from_id=label.proposed_from_id,
            provenance={
                **told.provenance(label.schema.version, label.provenance),
                "restores": str(label.uid),
                BULK: job.pk,
            },
            uid=uuid4(),
        )


_BACK: dict[Action, Callable[[BulkJob, Sequence[BulkChange], States], int]] = {
    Action.ACCEPT: _labels,
    Action.LABEL: _labels,
    Action.ASSIGN: _assignments,
    Action.AUDIENCE: _audience,
    Action.PROMOTE: _promoted,
    Action.RETURN: _returned,
}
