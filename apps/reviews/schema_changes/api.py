"""REST: changes of labels that are in use."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.response import Response

from apps.accounts.http import SignedInApiRequest
from apps.projects.api.serializers import LabelSchemaSerializer
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.models import SchemaChange
from apps.reviews.schema_changes.preview import preview_change
from apps.reviews.schema_changes.services import begin_change, changes_of, draft_change, get_change
from labelhub.core.schema.operations import parse_operations


class SchemaChangeSerializer(serializers.ModelSerializer[SchemaChange]):
    """One change of labels, and how far it has come."""

    from_version = serializers.IntegerField(source="from_schema.version")
    to_version = serializers.IntegerField(source="to_schema.version", allow_null=True, default=None)
    operations = serializers.JSONField()
    words = serializers.ListField(child=serializers.CharField(), help_text="The same in words.")
    reverts = serializers.IntegerField(source="reverts_id", allow_null=True)
    counts = serializers.JSONField(
        help_text="Rows written so far: `labels:KIND` carried over, `asked:KIND` back to people, "
        "`withdrawn:KIND` taken back, `gold_carried`, `gold_withdrawn`, `gold_made`, `items`."
    )
    created_by = serializers.CharField(source="created_by.username", allow_null=True, default=None)

    class Meta:
        model = SchemaChange
        fields = [
            "id", "from_version", "to_version", "operations", "words", "reverts", "reason",
            "status", "message", "items_total", "items_done", "counts", "created_by", "created_at",
            "started_at", "finished_at",
        ]  # fmt: skip


class SchemaChangePreviewSerializer(serializers.Serializer[Any]):
    """What a change of labels would do."""

    from_version = serializers.IntegerField()
    to_version = serializers.IntegerField()
    schema = LabelSchemaSerializer()
    labels = serializers.DictField(
        child=serializers.DictField(), help_text="By what becomes of them: counts by kind."
    )
    gold = serializers.DictField(help_text="Counts by what becomes of it.")
    operations = serializers.ListField(child=serializers.DictField())
    decisions = serializers.DictField(help_text="What becomes of conflicts.")
    examples = serializers.ListField(child=serializers.DictField())


class AskedSerializer(serializers.Serializer[Any]):
    """What is to change."""

    operations = serializers.JSONField(
        default=None,
        help_text='A list of objects, all done at once: `{"op": "add", "label": {"name"}}`, '
        '`{"op": "rename", "label", "to"}`, `{"op": "merge", "labels": [], "into"}`, '
        '`{"op": "split", "label", "into": [], "default"}`, '
        '`{"op": "retire", "label", "replacement", "ask"}`, '
        '`{"op": "describe", "label", "description", "include", "exclude"}`, '
        '`{"op": "ask", "question"}`, `{"op": "reorder", "labels": []}`.'
    )  # fmt: skip
    reverts = serializers.IntegerField(
        allow_null=True, default=None,
        help_text="Id of the last change, to take it back; then without operations."
    )  # fmt: skip
    reason = serializers.CharField(allow_blank=True, default="", max_length=2000)
    dry_run = serializers.BooleanField(default=False, help_text="Only say what it would do.")


class SchemaChangeViewSet(ProjectViewSet):
    """Changes of the project's labels."""

    lookup_url_kwarg = "change_id"
    serializer_class = SchemaChangeSerializer

    @extend_schema(operation_id="projects_schema_changes_list")
    def list(self, request: SignedInApiRequest, **_: str) -> Response:
        """List changes of labels.

        Those that have begun, the newest first.
        """
        return self.list_page(changes_of(self.project))

    @extend_schema(
        request=AskedSerializer,
        examples=[
            OpenApiExample(
                "A preview",
                value={
                    "operations": [{"op": "rename", "label": "Food", "to": "Dishes"}],
                    "dry_run": True,
                },
                request_only=True,
            )
        ],
        responses={
            200: OpenApiResponse(
                SchemaChangePreviewSerializer, "What it would do (`dry_run`); nothing is written."
            ),
            202: SchemaChangeSerializer,
        },
    )
    def create(self, request: SignedInApiRequest, **_: str) -> Response:
        """Change labels that are in use.

        Rename, merge, split, retire or add labels; the labels given so far follow in the
        background, by new rows of the ledger.
        """
        sent = self.read_body(AskedSerializer)
        back = get_change(self.project, sent["reverts"]) if sent["reverts"] else None
        draft = draft_change(
            self.project,
            [] if back is not None else parse_operations(sent["operations"]),
            actor=request.user,
            reverts=back,
            reason=sent["reason"],
        )
        if sent["dry_run"]:
            return Response(preview_change(draft))
        shown = self.get_serializer(begin_change(draft)).data
        return Response(shown, status=status.HTTP_202_ACCEPTED)

    @extend_schema(operation_id="schema_change_read")
    def retrieve(self, request: SignedInApiRequest, change_id: int, **_: str) -> Response:
        """Show a change of labels.

        How far it has come, and what it did.
        """
        return Response(self.get_serializer(get_change(self.project, change_id)).data)
