"""Saved filters and bulk jobs over REST, for a project's managers."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.projects.api.mixins import ProjectScopedMixin
from apps.reviews.models import BulkJob, SavedFilter
from apps.reviews.selectors.bulk import PASSED, get_job, jobs_of, preview
from apps.reviews.selectors.filters import first_settings
from apps.reviews.selectors.searching import Query, read_query
from apps.reviews.services.bulk import plan_job, start_job, undo_job
from apps.reviews.services.filters import delete_filter, get_filter, put_first, save_filter
from apps.reviews.tasks import launch_first
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


class FiltersView(ProjectScopedMixin, generics.GenericAPIView[SavedFilter]):
    """The saved filters of a project."""

    read_right = Right.MANAGE
    serializer_class = SavedFilterSerializer
    queryset = SavedFilter.objects.none()

    @extend_schema(operation_id="filter_list", responses=SavedFilterSerializer(many=True))
    def get(self, request: SignedInApiRequest, slug: str) -> Response:
        """By name."""
        page = self.paginate_queryset(SavedFilter.objects.filter(project=self.project))
        found = SavedFilterSerializer(page, many=True, context=_first(self))
        return self.get_paginated_response(found.data)

    @extend_schema(
        operation_id="filter_save",
        request=NewFilterSerializer,
        responses={201: SavedFilterSerializer},
    )
    def post(self, request: SignedInApiRequest, slug: str) -> Response:
        """Save a search under a name."""
        sent = NewFilterSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        saved = save_filter(
            project=self.project,
            actor=request.user,
            name=sent.validated_data["name"],
            query=_read(sent.validated_data["query"]),
        )
        _put_first(self, saved, sent.validated_data["first"])
        found = SavedFilterSerializer(saved, context=_first(self))
        return Response(found.data, status=status.HTTP_201_CREATED)


class FilterView(ProjectScopedMixin, APIView):
    """One saved filter."""

    read_right = Right.MANAGE

    @extend_schema(operation_id="filter_read", responses=SavedFilterSerializer)
    def get(self, request: SignedInApiRequest, slug: str, filter_id: int) -> Response:
        """Its search."""
        saved = get_filter(self.project, filter_id)
        return Response(SavedFilterSerializer(saved, context=_first(self)).data)

    @extend_schema(operation_id="filter_delete", responses={204: None})
    def delete(self, request: SignedInApiRequest, slug: str, filter_id: int) -> Response:
        """Forget it; items that came first by it go back among the others."""
        delete_filter(project=self.project, filter_id=filter_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class BulkJobsView(ProjectScopedMixin, generics.GenericAPIView[BulkJob]):
    """What was done to many items at once."""

    read_right = Right.MANAGE
    serializer_class = BulkJobSerializer
    queryset = BulkJob.objects.none()

    @extend_schema(operation_id="bulk_list", responses=BulkJobSerializer(many=True))
    def get(self, request: SignedInApiRequest, slug: str) -> Response:
        """Newest first."""
        page = self.paginate_queryset(jobs_of(self.project))
        return self.get_paginated_response(BulkJobSerializer(page, many=True).data)

    @extend_schema(
        operation_id="bulk_start",
        request=NewBulkJobSerializer,
        responses={200: BulkPreviewSerializer, 202: BulkJobSerializer},
    )
    def post(self, request: SignedInApiRequest, slug: str) -> Response:
        """Do something to many items in the background; 200 with counts alone for a dry run.

        Labels are your own, in the kind of annotator that you are in the project. With no search
        and no ids it is about all items.
        """
        sent = NewBulkJobSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        data = sent.validated_data
        asked = data["query"] | ({"items": data["items"]} if data["items"] else {})
        plan = plan_job(
            self.project,
            request.user,
            action=data["action"],
            query=_read(asked),
            options=data["options"],
            frozen={"upto": data["upto"], "asked_at": data["asked_at"]},
        )
        if data["dry_run"]:
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
        return Response(BulkJobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class BulkJobView(ProjectScopedMixin, APIView):
    """One bulk job."""

    read_right = Right.MANAGE

    @extend_schema(operation_id="bulk_read", responses=BulkJobSerializer)
    def get(self, request: SignedInApiRequest, slug: str, job_id: int) -> Response:
        """How far it is, and what became of it."""
        return Response(BulkJobSerializer(get_job(self.project, job_id)).data)


class BulkUndoView(ProjectScopedMixin, APIView):
    """The undoing of one."""

    @extend_schema(operation_id="bulk_undo", request=None, responses={202: BulkJobSerializer})
    def post(self, request: SignedInApiRequest, slug: str, job_id: int) -> Response:
        """Take back what it did, where nobody has changed an item since; in the background."""
        job = undo_job(job=get_job(self.project, job_id), actor=request.user)
        return Response(BulkJobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


def _read(query: dict[str, Any]) -> Query:
    """The search in a body; a wrong field is named below ``query``."""
    try:
        return read_query(query, strict=True)
    except InvalidInput as error:
        for fault in error.data.get("errors", []):
            fault["field"] = f"query.{fault['field']}"
        raise


def _first(view: ProjectScopedMixin) -> dict[str, Any]:
    settings = first_settings(view.project)
    return {"first": settings.first_filter_id if settings else None}


def _put_first(view: ProjectScopedMixin, saved: SavedFilter, first: bool | None) -> None:  # noqa: FBT001 - as it was sent
    if first is None:
        return
    if first or _first(view)["first"] == saved.pk:
        put_first(project=view.project, chosen=saved if first else None)
        launch_first(view.project.pk)
