"""The bulk actions: what each does to a chunk of locked items, and how it is undone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol
from uuid import uuid4

from django.db.models import Exists, OuterRef

from apps.accounts.models import User
from apps.labels.models import VIEW_UNKNOWN, Assignment, ItemState, Label
from apps.labels.services import ImportOutcome, NewLabel, annotator_for_user, import_labels
from apps.labels.services.queue import assign_items, keep_for_kind, promote_items, unassign_items
from apps.projects.changes import Translator
from apps.projects.models import Project
from apps.projects.selectors import current_guideline, current_schema
from apps.reviews.bulk.plan import BulkPlan
from apps.reviews.models import BulkChange, BulkJob, Decision
from apps.reviews.queue.submission import undo_skips
from apps.reviews.queue.undo import repeated_label, return_to_queue

#: In the provenance of a label that was given in bulk: the job.
BULK = "bulk"
Action = BulkJob.Action
States = dict[int, ItemState]


def _read_skips(
    states: Sequence[ItemState], users: Sequence[User] | None = None
) -> dict[int, list[tuple[int, int | None]]]:
    """By item: id and reviewer of the skips and postponements that are not undone."""
    left = Decision.objects.leaving().filter(item__in=[state.item_id for state in states])
    if users is not None:
        left = left.filter(reviewer__in=users)
    found: dict[int, list[tuple[int, int | None]]] = {}
    for item, pk, who in left.order_by("pk").values_list("item_id", "pk", "reviewer_id"):
        found.setdefault(item, []).append((pk, who))
    return found


def _restore_skips(changes: Sequence[BulkChange]) -> None:
    """Bring back skips and postponements that the job undid, unless there are newer ones."""
    skips = [pk for change in changes for pk in change.before.get("skips", ())]
    since = Decision.objects.leaving().filter(item=OuterRef("item"), reviewer=OuterRef("reviewer"))
    Decision.objects.filter(~Exists(since), pk__in=skips).order_by().update(undone_at=None)


def _restored_labels(job: BulkJob, labels: Iterable[Label]) -> Iterator[NewLabel]:
    """The labels that the job withdrew, under the labels of today; those that have no counterpart
    are left out. Without seconds: the time was counted once."""
    schema, translator = current_schema(job.project), Translator.of(job.project_id)
    for label in labels:
        value = translator.value(label.schema.version, label.value)
        if value is None and not (label.abstained or label.rejected):
            continue
        yield repeated_label(
            label,
            schema=schema,
            value=value,
            evidence=translator.evidence(label.schema.version, label.evidence),
            seconds=None,
            provenance={
                **translator.provenance(label.schema.version, label.provenance),
                "restores": str(label.uid),
                BULK: job.pk,
            },
            uid=uuid4(),
        )


class BulkAction(Protocol):
    """One action on a chunk of items, whose states are locked."""

    def apply(self, plan: BulkPlan, job: BulkJob, states: Sequence[ItemState]) -> list[BulkChange]:
        """Apply the action; return for each changed item what undo needs."""

    def undo(self, job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
        """Undo it where nobody has changed the item since; return how many items were undone."""


class LabelItems(BulkAction):
    def apply(self, plan: BulkPlan, job: BulkJob, states: Sequence[ItemState]) -> list[BulkChange]:
        """Import one label of the job's actor for each item."""
        annotator = annotator_for_user(plan.project, plan.actor)
        schema, guideline = current_schema(plan.project), current_guideline(plan.project)
        common = {BULK: job.pk} | ({"guideline": guideline.version} if guideline else {})
        drafts = []
        for state, fields in zip(states, self.fields(plan, states), strict=True):
            fields["provenance"] = common | fields.get("provenance", {})
            given = {"annotator": annotator, "schema": schema, "uid": uuid4(), **fields}
            drafts.append(NewLabel(item_id=state.item_id, **given))
        import_labels(plan.project, drafts)
        written = Label.objects.filter(item__in=[draft.item_id for draft in drafts])
        by_uid = dict(written.filter(annotator=annotator).values_list("uid", "pk"))
        return [
            BulkChange(job=job, item_id=draft.item_id, label_id=by_uid[draft.uid])
            for draft in drafts
            if draft.uid in by_uid
        ]

    def fields(self, plan: BulkPlan, states: Sequence[ItemState]) -> list[dict[str, Any]]:
        """What differs by item. Nobody opened the items: whether a suggestion was in view is not
        known."""
        return [
            {
                "value": plan.options["value"],
                "provenance": {VIEW_UNKNOWN: True} if state.suggestion_id else {},
            }
            for state in states
        ]

    def undo(self, job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
        """A label that was superseded or withdrawn since stays as it is."""
        ids = [change.label_id for change in changes if change.label_id]
        standing = Label.objects.current().filter(pk__in=ids).select_related("annotator")
        provenance = {"undone_by": job.counts.get("undone_by", ""), BULK: job.pk}
        drafts = [
            NewLabel(
                item_id=label.item_id,
                annotator=label.annotator,
                schema=current_schema(job.project),
                value=None,
                withdrawn=True,
                action=Label.Action.WITHDRAWN,
                supersedes_uid=label.uid,
                provenance=provenance,
            )
            for label in standing
        ]
        outcomes = import_labels(job.project, drafts) if drafts else []
        return outcomes.count(ImportOutcome.CREATED)


class AcceptSuggestions(LabelItems):
    def fields(self, plan: BulkPlan, states: Sequence[ItemState]) -> list[dict[str, Any]]:
        """The suggestions as they are now."""
        ids = [state.suggestion_id or 0 for state in states]
        values = {pk: label.value for pk, label in Label.objects.in_bulk(ids).items()}
        action = Label.Action.ACCEPTED
        return [{"value": values[pk], "action": action, "proposed_from_id": pk} for pk in ids]


class AssignItems(BulkAction):
    def apply(self, plan: BulkPlan, job: BulkJob, states: Sequence[ItemState]) -> list[BulkChange]:
        """To all of the people, or to one in turn; nobody gets an item that they have labelled."""
        users = list(User.objects.filter(pk__in=plan.options["users"]).order_by("pk"))
        labels = Label.objects.standing().by_people()
        labels = labels.filter(
            item__in=[state.item_id for state in states], annotator__user__in=users
        )
        spoken = set(labels.order_by().values_list("item_id", "annotator__user_id"))
        given: dict[tuple[int, ...], list[int]] = {}
        for index, state in enumerate(states):
            free = [user for user in users if (state.item_id, user.pk) not in spoken]
            if plan.options["share"] and free:
                # A user who has labelled the item passes the turn on.
                turn = (job.done + index) % len(users)
                free = [next(user for user in users[turn:] + users[:turn] if user in free)]
            given.setdefault(tuple(user.pk for user in free), []).append(state.item_id)
        by_id = {user.pk: user for user in users}
        added = {item: list(who) for who, items in given.items() for item in items}
        skips = _read_skips(states, users)
        for who, items in given.items():
            people = [by_id[pk] for pk in who]
            assign_items(plan.project, items, people)
            undo_skips(project=plan.project, item_ids=items, users=people)
        return [
            BulkChange(
                job=job,
                item_id=state.item_id,
                before={
                    "added": [pk for pk in added[state.item_id] if pk not in state.assignees],
                    "skips": [
                        pk
                        for pk, who in skips.get(state.item_id, ())
                        if who in added[state.item_id]
                    ],
                },
            )
            for state in states
        ]

    def undo(self, job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
        """Only where all whom the job gave the item to still have it and have not answered."""
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
        _restore_skips([change for change in changes if change.item_id in back])
        return len(back)


class SetField(BulkAction):
    """Set one ``field`` of the items' states to the ``option`` of the job, by ``write``."""

    def __init__(
        self, option: str, field: str, write: Callable[[Project, list[int], Any], int]
    ) -> None:
        self._option, self._field, self._write = option, field, write

    def apply(self, plan: BulkPlan, job: BulkJob, states: Sequence[ItemState]) -> list[BulkChange]:
        items = [state.item_id for state in states]
        self._write(plan.project, items, plan.options[self._option])
        before = [{self._option: getattr(state, self._field)} for state in states]
        return [
            BulkChange(job=job, item_id=item, before=was)
            for item, was in zip(items, before, strict=True)
        ]

    def undo(self, job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
        groups: dict[Any, list[int]] = {}
        for change in changes:
            state = states.get(change.item_id)
            if state and getattr(state, self._field) == job.options[self._option]:
                groups.setdefault(change.before[self._option], []).append(change.item_id)
        return sum(self._write(job.project, ids, was) for was, ids in groups.items())


class ReturnItems(BulkAction):
    def apply(self, plan: BulkPlan, job: BulkJob, states: Sequence[ItemState]) -> list[BulkChange]:
        ids = [state.item_id for state in states]
        label_ids: dict[int, list[int]] = {}
        labels = Label.objects.standing().by_people().filter(item__in=ids)
        for label in labels.exclude(action=Label.Action.IMPORTED).order_by("pk"):
            label_ids.setdefault(label.item_id, []).append(label.pk)
        skips = _read_skips(states)
        return_to_queue(
            project=plan.project, item_ids=ids, by=plan.actor, reason=plan.options["reason"]
        )
        return [
            BulkChange(
                job=job,
                item_id=state.item_id,
                before={
                    "labels": label_ids.get(state.item_id, []),
                    "skips": [pk for pk, _ in skips.get(state.item_id, ())],
                    "promoted": state.promoted,
                },
            )
            for state in states
        ]

    def undo(self, job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
        """Give the withdrawn labels anew in their annotators' names, on items that nobody has
        labelled since; skips of those items are restored."""
        items = [change.item_id for change in changes]
        current = Label.objects.current().by_people().filter(item__in=items)
        answered = set(
            current.exclude(action=Label.Action.IMPORTED).values_list("item_id", flat=True)
        )
        back = [change for change in changes if change.item_id not in answered]
        ids = [pk for change in back for pk in change.before["labels"]]
        labels = (
            Label.objects.filter(pk__in=ids).select_related("annotator", "schema").order_by("pk")
        )
        drafts = list(_restored_labels(job, labels))
        import_labels(job.project, drafts)
        said_again = {draft.item_id for draft in drafts}
        back = [change for change in back if change.item_id in said_again]
        _restore_skips(back)
        lifted = [
            change.item_id
            for change in back
            if not change.before["promoted"] and states[change.item_id].promoted
        ]
        promote_items(job.project, lifted, promoted=False)
        return len(back)


_ACTIONS: dict[Action, BulkAction] = {
    Action.ACCEPT: AcceptSuggestions(),
    Action.LABEL: LabelItems(),
    Action.ASSIGN: AssignItems(),
    Action.AUDIENCE: SetField("kind", "assigned_kind", keep_for_kind),
    Action.PROMOTE: SetField(
        "promoted",
        "promoted",
        lambda project, ids, promoted: promote_items(project, ids, promoted=promoted),
    ),
    Action.RETURN: ReturnItems(),
}


def apply_action(plan: BulkPlan, job: BulkJob, states: Sequence[ItemState]) -> list[BulkChange]:
    """Apply the plan's action; see :meth:`BulkAction.apply`."""
    return _ACTIONS[Action(plan.action)].apply(plan, job, states) if states else []


def undo_changes(job: BulkJob, changes: Sequence[BulkChange], states: States) -> int:
    """Undo the job's action; see :meth:`BulkAction.undo`."""
    return _ACTIONS[Action(job.action)].undo(job, changes, states)
