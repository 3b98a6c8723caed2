"""Bulk jobs over REST, for a project's managers."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.projects.api.viewsets import ProjectViewSet
from apps.reviews.bulk.jobs import plan_job, start_job, undo_job
from apps.reviews.bulk.plan import PASSED, get_job, jobs_of, preview
from apps.reviews.models import BulkJob
from apps.reviews.search.api import QUERY_HELP, read_search


class BulkJobSerializer(serializers.ModelSerializer[BulkJob]):
    """One thing done to many items, or on its way."""

    actor = serializers.CharField(source="actor.username", default=None, allow_null=True)
    counts = serializers.DictField(help_text="Items passed over by reason; what an undo came to.")

    class Meta:
        model = BulkJob
        fields = [
            "id", "action", "query", "options", "status", "message", "total", "done",
            "passed_over", "counts", "actor", "created_at", "finished_at",
        ]  # fmt: skip


class NewBulkJobSerializer(serializers.Serializer[Any]):
    """What to do to which items."""

    action = serializers.ChoiceField(choices=BulkJob.Action.choices)
    query = serializers.DictField(default=dict, help_text=QUERY_HELP)
    items = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        default=list,
        help_text="Ids of items, beside or instead of a search.",
    )
    options = serializers.DictField(
        default=dict,
        help_text="label: value; assign: users, share; audience: kind; promote: promoted; "
        "return: reason.",
    )
    dry_run = serializers.BooleanField(
        default=False, help_text="Count what would change, and change nothing."
    )
    upto = serializers.IntegerField(
        allow_null=True, default=None, help_text="As a dry run gave it."
    )
    asked_at = serializers.CharField(
        allow_blank=True, default="", help_text="As a dry run gave it."
    )


class BulkPreviewSerializer(serializers.Serializer[Any]):
    """What a bulk job would do."""

    total = serializers.IntegerField()
    changing = serializers.IntegerField()
    passed = serializers.DictField(
        child=serializers.IntegerField(),
        help_text=f"Items passed over, by reason: {', '.join(PASSED)}.",
    )
    examples = serializers.ListField(child=serializers.IntegerField(), help_text="Ids of items.")
    upto = serializers.IntegerField(help_text="Send it back: items that came later are left alone.")
    asked_at = serializers.DateTimeField(help_text="The same, of items changed later.")


class BulkJobViewSet(ProjectViewSet):
    """What was done to many items at once, for managers."""

    read_right = Right.MANAGE
    lookup_url_kwarg = "job_id"
    serializer_class = BulkJobSerializer

    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List bulk jobs.

        Newest first.
        """
        return self.list_page(jobs_of(self.project))

    @extend_schema(
        operation_id="bulk_start",
        request=NewBulkJobSerializer,
        responses={200: BulkPreviewSerializer, 202: BulkJobSerializer},
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Start a bulk job.

        Does something to many items in the background; 200 with counts alone for a dry run. Labels
        are your own, in the kind of annotator that you are in the project. With no search and no
        ids it is about all items.
        """
        sent = self.read_body(NewBulkJobSerializer)
        asked = sent["query"] | ({"items": sent["items"]} if sent["items"] else {})
        plan = plan_job(
            self.project,
            request.user,
            action=sent["action"],
            query=read_search(asked),
            options=sent["options"],
            frozen={"upto": sent["upto"], "asked_at": sent["asked_at"]},
        )
        if sent["dry_run"]:
            seen = preview(plan)
            summary = {
                "total": seen.total,
                "changing": seen.changing,
                "passed": seen.passed,
                "examples": [item.pk for item in seen.examples],
                "upto": plan.upto,
                "asked_at": plan.asked_at,
            }
            return Response(BulkPreviewSerializer(summary).data)
        job = start_job(plan)
        return Response(self.get_serializer(job).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(operation_id="bulk_read")
    def retrieve(self, request: SignedInApiRequest, job_id: int, **_: str) -> Response:
        """Show a bulk job.

        How far it is, and what became of it.
        """
        return Response(self.get_serializer(get_job(self.project, job_id)).data)

    @extend_schema(request=None, responses={202: BulkJobSerializer})
    @action(detail=True, methods=["post"])
    def undo(self, request: SignedInApiRequest, job_id: int, **_: str) -> Response:
        """Undo a bulk job.

        Take back what it did, where nobody has changed an item since; in the background.
        """
        job = undo_job(job=get_job(self.project, job_id), actor=request.user)
        return Response(self.get_serializer(job).data, status=status.HTTP_202_ACCEPTED)
