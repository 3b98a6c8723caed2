"""Saved filters and bulk jobs over REST, for a project's managers."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.projects.api.viewsets import ProjectViewSet
from apps.reviews.models import BulkJob, SavedFilter
from apps.reviews.selectors.bulk import PASSED, get_job, jobs_of, preview
from apps.reviews.selectors.filters import first_settings
from apps.reviews.selectors.searching import Query, read_query
from apps.reviews.services.bulk import plan_job, start_job, undo_job
from apps.reviews.services.filters import delete_filter, get_filter, put_first, save_filter
from labelhub.core.errors import InvalidInput

QUERY_HELP = "Fields of the search, as ``items/`` takes them."


class SavedFilterSerializer(serializers.ModelSerializer[SavedFilter]):
    """A search with a name."""

    query = serializers.DictField(help_text=QUERY_HELP)
    first = serializers.SerializerMethodField(help_text="Whether its items come first.")

    class Meta:
        model = SavedFilter
        fields = ["id", "name", "query", "first", "created_at"]

    def get_first(self, saved: SavedFilter) -> bool:
        """The queue hands out its items before all others."""
        return bool(saved.pk == self.context.get("first"))


class NewFilterSerializer(serializers.Serializer[Any]):
    """A search to save; under a name that is taken it replaces what was there."""

    name = serializers.CharField(max_length=100)
    query = serializers.DictField(help_text=QUERY_HELP)
    first = serializers.BooleanField(
        required=False,
        allow_null=True,
        default=None,
        help_text="Let its items come first from now on, or no longer.",
    )


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
    query = serializers.DictField(required=False, default=dict, help_text=QUERY_HELP)
    items = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        default=list,
        help_text="Ids of items, beside or instead of a search.",
    )
    options = serializers.DictField(
        required=False,
        default=dict,
        help_text="label: value; assign: users, share; audience: kind; promote: promoted; "
        "return: reason.",
    )
    dry_run = serializers.BooleanField(
        required=False, default=False, help_text="Count what would change, and change nothing."
    )
    upto = serializers.IntegerField(
        required=False, allow_null=True, default=None, help_text="As a dry run gave it."
    )
    asked_at = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="As a dry run gave it."
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


class SavedFilterViewSet(ProjectViewSet):
    """The saved filters of a project, for its managers."""

    read_right = Right.MANAGE
    lookup_url_kwarg = "filter_id"
    serializer_class = SavedFilterSerializer

    def get_serializer_context(self) -> dict[str, Any]:
        """With the filter whose items come first."""
        settings = first_settings(self.project)
        first = settings.first_filter_id if settings else None
        return super().get_serializer_context() | {"first": first}

    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List saved filters.

        By name.
        """
        return self.list_page(SavedFilter.objects.filter(project=self.project))

    @extend_schema(operation_id="filter_save", request=NewFilterSerializer)
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Save a search under a name."""
        sent = self.read_body(NewFilterSerializer)
        saved = save_filter(
            project=self.project,
            actor=request.user,
            name=sent["name"],
            query=_read(sent["query"]),
        )
        self._put_first(saved, first=sent["first"])
        return Response(self.get_serializer(saved).data, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="filter_read")
    def retrieve(self, request: SignedInApiRequest, filter_id: int, **_: str) -> Response:
        """Show a saved filter."""
        return Response(self.get_serializer(get_filter(self.project, filter_id)).data)

    def destroy(self, request: SignedInApiRequest, filter_id: int, **_: str) -> Response:
        """Delete a saved filter.

        Items that came first by it go back among the others.
        """
        delete_filter(project=self.project, filter_id=filter_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _put_first(self, saved: SavedFilter, *, first: bool | None) -> None:
        if first is None:
            return
        if first or self.get_serializer_context()["first"] == saved.pk:
            put_first(project=self.project, chosen=saved if first else None)


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
            query=_read(asked),
            options=sent["options"],
            frozen={"upto": sent["upto"], "asked_at": sent["asked_at"]},
        )
        if sent["dry_run"]:
            seen = preview(plan)
            told = {
                "total": seen.total,
                "changing": seen.changing,
                "passed": seen.passed,
                "examples": [item.pk for item in seen.examples],
                "upto": plan.upto,
                "asked_at": plan.asked_at,
            }
            return Response(BulkPreviewSerializer(told).data)
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


def _read(query: dict[str, Any]) -> Query:
    """The search in a body; a wrong field is named below ``query``."""
    try:
        return read_query(query, strict=True)
    except InvalidInput as error:
        for fault in error.data.get("errors", []):
            fault["field"] = f"query.{fault['field']}"
        raise
