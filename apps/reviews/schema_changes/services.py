"""Change the schema of a project that has labels: add, rename, merge, split and retire labels.

One transaction creates the new version, under which everybody labels from then on. A worker carries
the existing labels over, chunk by chunk, resumable.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.common.bulk import refresh_statistics
from apps.common.jobs import JobRun, failure_message, job, start_job, work_on
from apps.common.queues import HEAVY
from apps.debates.models import Run
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import Carried, carry_over
from apps.labels.services.states import batches_of_items
from apps.projects.models import LabelSchema, Project, SchemaChange
from apps.projects.selectors import current_schema
from apps.projects.services import refuse_while_changing
from apps.projects.signals import labels_changed
from apps.reviews.models import BulkChange, BulkJob, Decision, Requeue, SavedFilter, Slot
from labelhub.core.errors import Conflict, InvalidInput, NotFound
from labelhub.core.phrases import Phrase
from labelhub.core.schema import unstorable
from labelhub.core.schema.migration import Fate, SchemaPlan
from labelhub.core.schema.operations import InvalidChange, Operation, to_json

_WITH = ("from_schema", "to_schema", "created_by", "reverts__from_schema", "project")
#: The fields of a search that hold a label.
NAMING = ("label", "suggested", "gold")
CHUNK = 1000
#: After so many rows the database refreshes its statistics.
MANY_ROWS = 1000
Status = SchemaChange.Status
KIND = "reviews.change_labels"
LONGEST_REASON = 2000


def changes_of(project: Project) -> QuerySet[SchemaChange]:
    """The changes that have begun, the newest first."""
    rows = SchemaChange.objects.filter(project=project, to_schema__isnull=False)
    return rows.select_related(*_WITH).order_by("-pk")


def get_change(project: Project, change_id: int) -> SchemaChange:
    """One change, begun or not.

    Raises:
        NotFound: the project has none of that number.
    """
    rows = SchemaChange.objects.filter(project=project).select_related(*_WITH)
    found = rows.filter(pk=change_id).first()
    if found is None:
        raise NotFound(
            "There is no change %(change_id)s of the labels of this project.",
            change_id=str(change_id),
        )
    return found


def is_newest(change: SchemaChange) -> bool:
    """Whether it is done and no newer version exists, so that it can be reverted."""
    if change.status != SchemaChange.Status.DONE or change.to_schema is None:
        return False
    newer = change.project.schemas.filter(version__gt=change.to_schema.version)
    return not newer.exists()


def rename_filters(change: SchemaChange) -> None:
    """Rename labels in saved filters. A label without counterpart stays, and the list of filters
    shows the fault."""
    changed = []
    for saved in SavedFilter.objects.filter(project=change.project_id):
        named = {name: saved.query[name] for name in NAMING if saved.query.get(name)}
        now = {name: _renamed_label(change.plan, raw) for name, raw in named.items()}
        if now != named:
            saved.query = {**saved.query, **now}
            changed.append(saved)
    SavedFilter.objects.bulk_update(changed, ["query"])


def _renamed_label(plan: SchemaPlan, raw: Any) -> Any:
    """The new name or value, as a form writes it."""
    if plan.old.task.several:
        known = plan.old.label(str(raw))
        name = plan.names[known.name] if known else raw
        return raw if isinstance(name, Fate) else name
    try:
        value = plan.value(plan.old.normalise(raw))
    except InvalidInput:
        return raw
    return raw if isinstance(value, Fate) else str(value)


def run_change(change_id: int) -> SchemaChange:
    """Run a change to its end, from the item it had reached; see
    :func:`apps.common.jobs.work_on`."""
    work_on(KIND, change_id)
    return SchemaChange.objects.get(pk=change_id)


def fail_change(change_id: int, error: Exception) -> None:
    change = SchemaChange.objects.get(pk=change_id)
    change.message = failure_message(
        error,
        Phrase(
            "%(number)s items are done and stay so; resume for the rest.", number=change.items_done
        ),
    )
    change.status = Status.FAILED
    change.save(update_fields=["message", "status"])


@job(KIND, fail=fail_change, queue=HEAVY)
def carry_labels(run: JobRun) -> None:
    """Carry the labels over; each chunk commits its rows together with the cursor."""
    going = SchemaChange.objects.filter(pk=run.subject, status=Status.RUNNING)
    change = going.select_related(
        "project", "from_schema", "to_schema", "reverts__from_schema"
    ).first()
    if change is None:
        return
    states = ItemState.objects.filter(project=change.project_id, item_id__gt=change.cursor)
    for ids in batches_of_items(states, CHUNK):
        with run.chunk():
            carried = carry_items(change, ids)
            change.cursor, change.items_done = ids[-1], change.items_done + len(ids)
            change.counts = _add_counts(change.counts, carried.counts)
            change.save(update_fields=["cursor", "items_done", "counts"])
    with run.last_chunk():
        _finish(change)
    if change.items_done >= MANY_ROWS:
        refresh_statistics(Label, Gold, ItemState)


def resume_change(change: SchemaChange) -> bool:
    """Resume a failed change; False if it had not failed."""
    stopped = SchemaChange.objects.filter(pk=change.pk, status=Status.FAILED)
    with transaction.atomic():
        if not stopped.update(status=Status.RUNNING, message=""):
            return False
        start_job(KIND, change.pk)
    return True


def carry_items(change: SchemaChange, item_ids: list[int]) -> Carried:
    """Carry these items over, with the rows that refer to their labels, in one transaction."""
    with transaction.atomic():
        carried = carry_over(change, item_ids)
        # Undo, revisions and repeated answers find what a reviewer did by the row that is current.
        for model, name in (
            (Slot, "label"), (Decision, "label"), (Decision, "suggestion"), (BulkChange, "label"),
        ):  # fmt: skip
            rows = list(model.objects.filter(**{f"{name}__in": list(carried.moved)}))
            for row in rows:
                setattr(row, f"{name}_id", carried.moved[getattr(row, f"{name}_id")])
            model.objects.bulk_update(rows, [name], batch_size=200)
    return carried


def _add_counts(before: Mapping[str, int], more: Counter[str]) -> dict[str, int]:
    return dict(sorted((Counter(before) + more).items()))


def _finish(change: SchemaChange) -> None:
    """End the change, after the labels that were written under the old version meanwhile."""
    late = Label.objects.current().filter(
        item__project=change.project_id,
        created_at__gte=change.started_at or change.created_at,
        schema__version__lte=change.from_schema.version,
    )
    items = sorted(set(late.order_by().values_list("item_id", flat=True)))
    change.counts = _add_counts(change.counts, carry_items(change, items).counts)
    change.status, change.finished_at = Status.DONE, timezone.now()
    change.items_total = change.items_done
    change.save(update_fields=["counts", "status", "finished_at", "items_total"])
    LabelSchema.objects.filter(change=change).update(carrying=False)


def draft_change(
    project: Project,
    operations: Sequence[Operation],
    *,
    actor: User | None = None,
    reverts: SchemaChange | None = None,
    reason: str = "",
) -> SchemaChange:
    """The change, not saved.

    Raises:
        InvalidChange: it is impossible, or changes nothing.
        Conflict: it reverts a change that is not the last one.
    """
    current = current_schema(project)
    if bad := unstorable(reason):
        raise InvalidInput.at("reason", "Must not contain %(bad)s.", bad=bad)
    change = SchemaChange(
        project=project,
        from_schema=current,
        operations=to_json(operations),
        reverts=reverts,
        reason=reason.strip()[:LONGEST_REASON],
        created_by=actor,
    )
    if reverts is not None and reverts.to_schema_id != current.pk:
        raise Conflict("Only the last change can be taken back; the labels were changed since.")
    if change.plan.new == current.parsed:
        raise InvalidChange("This changes nothing.")
    return change


@transaction.atomic
def begin_change(change: SchemaChange, *, launch: bool = True, heard: bool = True) -> SchemaChange:
    """Create the new version; the labels follow in the background.

    ``launch`` False: the caller runs it; ``heard`` False: it is only tried, and rolled back.

    Raises:
        Conflict: the labels were changed since the draft, another change is under way, or something
            is at work that labels under the present version.
    """
    project = Project.objects.select_for_update().get(pk=change.project_id)
    if current_schema(project).pk != change.from_schema_id:
        raise Conflict("The labels were changed meanwhile: look at the preview again.")
    refuse_while_changing(project)
    _refuse_while_labelling(project)
    plan = change.plan
    carries = change.carries
    change.project = project
    change.to_schema = LabelSchema.objects.create(
        project=project,
        version=change.from_schema.version + 1,
        definition=plan.new.to_json(),
        carrying=carries,
        created_by=change.created_by,
    )
    change.status = Status.RUNNING if carries else Status.DONE
    change.started_at = timezone.now()
    change.finished_at = None if carries else change.started_at
    change.items_total = ItemState.objects.filter(project=project).count() if carries else 0
    change.save()
    versions = {"version": (change.from_schema.version, change.to_schema.version)}
    record(Action.SCHEMA_CHANGED, project, changes=versions)
    rename_filters(change)
    if carries and heard:
        labels_changed.send(sender=SchemaChange, project=project, plan=plan)
    if carries:
        start_job(KIND, change.pk, send=launch)
    return change


def _refuse_while_labelling(project: Project) -> None:
    """Also while a run is paused: it would go on under old labels."""
    over = (Run.Status.DONE, Run.Status.CANCELLED)
    run = Run.objects.filter(project=project).exclude(status__in=over).order_by("pk").first()
    if run is not None:
        raise Conflict(
            "Run %(pk)s is %(status)s under the present labels: let it finish or cancel it, "
            "then change the labels.",
            pk=str(run.pk),
            status=str(run.status),
            data={"run": run.pk},
        )
    if BulkJob.objects.filter(project=project, status__in=BulkJob.UNFINISHED).exists():
        raise Conflict("A bulk action is at work on these items: wait until it is done.")
    going = Requeue.objects.filter(project=project, status__in=Requeue.UNFINISHED)
    if requeue := going.select_related("user").first():
        raise Conflict(
            "Labels of %(display_name)s are being put back into the queue: wait until that is "
            "done.",
            display_name=requeue.user.display_name,
        )
