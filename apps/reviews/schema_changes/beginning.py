"""A change of labels begins: one transaction makes the new version, and people label under it."""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.common.jobs import start_job
from apps.debates.models import Run
from apps.labels.models import ItemState
from apps.projects.models import LabelSchema, Project, SchemaChange
from apps.projects.selectors import current_schema
from apps.projects.services import refuse_while_changing
from apps.projects.signals import labels_changed
from apps.reviews.models import BulkJob, Requeue
from apps.reviews.schema_changes.following import rename_filters
from apps.reviews.schema_changes.running import KIND
from labelhub.core.errors import Conflict, InvalidInput
from labelhub.core.schema import unstorable
from labelhub.core.schema.operations import InvalidChange, Operation, to_json

Status = SchemaChange.Status
LONGEST_REASON = 2000


def draft_change(
    project: Project,
    operations: Sequence[Operation],
    *,
    actor: User | None = None,
    reverts: SchemaChange | None = None,
    reason: str = "",
) -> SchemaChange:
    """The change as it would be, worked out and not saved.

    Raises:
        InvalidChange: it cannot be made, or changes nothing.
        Conflict: what it is to take back is not the last change.
    """
    current = current_schema(project)
    if bad := unstorable(reason):
        raise InvalidInput.at("reason", f"Must not contain {bad}.")
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
    """Make the new version; the labels follow in the background.

    ``launch`` False: somebody else will run it; ``heard`` False: it is only tried, and rolled back.

    Raises:
        Conflict: the labels were changed since it was worked out, another change is under way, or
            something is at work that labels under the present version.
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
    rename_filters(change)
    if carries and heard:
        labels_changed.send(sender=SchemaChange, project=project, plan=plan)
    if carries:
        start_job(KIND, change.pk, send=launch)
    return change


def _refuse_while_labelling(project: Project) -> None:
    """Paused runs too: they would go on under labels that there are no more."""
    over = (Run.Status.DONE, Run.Status.CANCELLED)
    run = Run.objects.filter(project=project).exclude(status__in=over).order_by("pk").first()
    if run is not None:
        raise Conflict(
            f"Run {run.pk} is {run.get_status_display().lower()} under the present labels: let it "
            "finish or cancel it, then change the labels.",
            data={"run": run.pk},
        )
    at_work = (BulkJob.Status.QUEUED, BulkJob.Status.RUNNING, BulkJob.Status.UNDOING)
    if BulkJob.objects.filter(project=project, status__in=at_work).exists():
        raise Conflict("A bulk action is at work on these items: wait until it is done.")
    going = Requeue.objects.filter(project=project, status__in=Requeue.UNFINISHED)
    if requeue := going.select_related("user").first():
        raise Conflict(
            f"Labels of {requeue.user.display_name} are being put back into the queue: wait until "
            "that is done."
        )
