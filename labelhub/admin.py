"""The jobs of all apps, for operators."""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import Case, CharField, Manager, OuterRef, Q, Subquery, Value, When
from django.db.models.query import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.agreement.models import Guarantee
from apps.common.console import OperatorAdmin, Words, badge, condition_filter, operator_action
from apps.common.jobs import job_state, retry_job
from apps.common.models import Job
from apps.debates.models import Run
from apps.debates.services import cancel_run
from apps.echo.models import Echo
from apps.exchange.models import ProjectImport, SavedExport, Webhook
from apps.learning.models import TrainedModel
from apps.projects.models import ImportBatch, Notification, Project, SchemaChange
from apps.reviews.models import BulkJob, Requeue
from labelhub.core.errors import Conflict


@dataclass(frozen=True)
class JobKind:
    """A kind of job for people: what it does, whose rows ask for it, how a project is reached from
    them, and the page that shows it (with the project's short name, ``own``: and the subject's
    id)."""

    words: Words
    subjects: Manager[Any] | None = None
    project: str = "project"
    page: str = "project_overview"
    own: bool = False


RUN = "debates.run"
KINDS = {
    RUN: JobKind(_("Run of debates"), Run.objects, page="run_detail", own=True),
    "exchange.import": JobKind(_("Import"), ImportBatch.objects, page="import_detail", own=True),
    "exchange.import_project": JobKind(_("Import of a project"), ProjectImport.objects),
    "exchange.save_export": JobKind(_("Saved export"), SavedExport.objects, page="export_page"),
    "exchange.webhook": JobKind(_("Deliveries of a webhook"), Webhook.objects, page="webhook_list"),
    "reviews.change_labels": JobKind(_("Change of labels"), SchemaChange.objects),
    "reviews.requeue": JobKind(_("Labels put back"), Requeue.objects, page="quality"),
    "reviews.bulk": JobKind(_("Bulk edit"), BulkJob.objects, page="bulk_detail", own=True),
    "reviews.first_filter": JobKind(_("Order of the queue"), Project.objects, project=""),
    "agreement.look_after": JobKind(_("Watch over auto-accept"), Guarantee.objects),
    "learning.train": JobKind(_("Training"), TrainedModel.objects, page="learning"),
    "learning.clear_ranks": JobKind(
        _("Order without the model"), Project.objects, project="", page="learning"
    ),
    "echo.learn": JobKind(_("Learning of Echo"), Echo.objects, project="site__project"),
    "projects.mail": JobKind(_("E-mail"), Notification.objects),
    "labelhub.retention": JobKind(_("Deletion of old data")),
}
TONES = {"running": "success", "waiting": "info", "postponed": "warning"}
STATES = {"waiting": _("waiting"), "running": _("running"), "postponed": _("postponed")}


def job_words(kind: str) -> str:
    """The kind in words."""
    return str(KINDS[kind].words) if kind in KINDS else kind


def job_page(job: Job) -> str:
    """The address of the page that shows the job; empty without a project."""
    kind, slug = KINDS.get(job.kind), getattr(job, "slug", "")
    if kind is None or not slug:
        return ""
    return reverse(kind.page, args=[slug, job.subject] if kind.own else [slug])


def list_jobs() -> QuerySet[Any]:
    """All jobs with their ``state`` and the short name of their project, ``slug``; longest wait
    first."""
    found = [
        When(kind=name, then=Subquery(
            kind.subjects.filter(pk=OuterRef("subject"))
            .values(f"{kind.project}__slug" if kind.project else "slug")[:1]
        ))
        for name, kind in KINDS.items() if kind.subjects
    ]  # fmt: skip
    slug = Case(*found, default=Value(""), output_field=CharField())
    return Job.objects.annotate(state=job_state(timezone.now()), slug=slug).order_by("pk")


@admin.register(Job)
class JobAdmin(OperatorAdmin):
    """Unfinished long work. What has ended is on the page of its project."""

    title = _("Jobs")
    list_display = [
        "words", "page", "job_state", "attempts", "created_at", "lease_until", "message",
    ]  # fmt: skip
    list_filter = [
        condition_filter(
            _("state"),
            "state",
            lambda: (
                {"stuck": (_("failed before"), ~Q(message=""))}
                | {state: (words, Q(state=state)) for state, words in STATES.items()}
            ),
        ),
        condition_filter(
            _("kind"),
            "kind",
            lambda: {name: (kind.words, Q(kind=name)) for name, kind in KINDS.items()},
        ),
    ]
    search_fields = ["kind", "=subject", "message"]
    fields = list_display
    readonly_fields = fields
    actions = ["retry", "cancel"]
    empty_words = _("Nothing is left to do. What has ended is shown on the pages of its project.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Job]:
        return list_jobs()

    @admin.display(description=_("Job"), ordering="kind")
    def words(self, job: Job) -> str:
        """What it does, and the id of its subject."""
        return f"{job_words(job.kind)} {job.subject}"

    @admin.display(description=_("Project"))
    def page(self, job: Any) -> SafeString | str:
        url = job_page(job)
        return format_html('<a class="text-link" href="{}">{}</a>', url, job.slug) if url else "–"

    @admin.display(description=_("State"))
    def job_state(self, job: Any) -> SafeString:
        return badge(STATES[job.state], TONES[job.state])

    @operator_action(_("Retry now"))
    def retry(self, _request: HttpRequest, job: Job) -> bool:
        return retry_job(job)

    @operator_action(
        _("Cancel"), question=_("The work ends for good; what was stored so far stays.")
    )
    def cancel(self, _request: HttpRequest, job: Job) -> bool:
        if job.kind != RUN:
            raise Conflict("Jobs of this kind cannot be cancelled: they would leave half a change.")
        run = Run.objects.filter(pk=job.subject).first()
        if run is None:
            raise Conflict("It is gone meanwhile.")
        cancel_run(run=run)
        return True
