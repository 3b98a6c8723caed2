"""REST of the audit log."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from apps.accounts.api import OperatorViewSet
from apps.accounts.http import SignedInApiRequest
from apps.accounts.roles import Right
from apps.common.api.pagination import NewestFirst
from apps.common.audit import address_of
from apps.common.models import AuditEntry
from apps.projects.api.viewsets import ProjectViewSet
from apps.projects.audit_log import AuditFilter, all_entries, entries_of


class ProjectAuditSerializer(serializers.ModelSerializer[AuditEntry]):
    """Something that somebody did."""

    who = serializers.CharField(read_only=True, help_text="User name; else a command or `system`.")
    user = serializers.IntegerField(
        source="actor.user_id", allow_null=True, default=None, help_text="Their id."
    )
    subject = serializers.CharField(read_only=True, help_text="Its name, as it was then.")
    changes = serializers.DictField(
        child=serializers.ListField(child=serializers.JSONField(allow_null=True)),
        help_text="Field → [old value, new value]; both null where values are not recorded.",
    )

    class Meta:
        model = AuditEntry
        fields: tuple[str, ...] = (
            "id", "at", "who", "user", "via", "action", "project", "subject_type", "subject_id",
            "subject", "changes",
        )  # fmt: skip


class AuditSerializer(ProjectAuditSerializer):
    """Something that somebody did, for operators."""

    address = serializers.SerializerMethodField(help_text="Empty once the person is erased.")

    class Meta(ProjectAuditSerializer.Meta):
        fields = (*ProjectAuditSerializer.Meta.fields, "address", "request_id", "number", "hash")

    def get_address(self, entry: AuditEntry) -> str:
        return address_of(entry)


class AuditViewSet(OperatorViewSet):
    """The audit log of the server, for operators."""

    serializer_class = AuditSerializer
    filterset_class = AuditFilter
    pagination_class = NewestFirst
    queryset = AuditEntry.objects.none()

    @extend_schema(operation_id="audit_list")
    def list(self, request: SignedInApiRequest) -> Response:
        """Read the audit log.

        Newest first; for operators. Follow `next` for older entries.
        """
        return self.list_page(all_entries(request.user))


class ProjectAuditViewSet(ProjectViewSet):
    """The audit log of a project, for its managers."""

    read_right = Right.MANAGE
    serializer_class = ProjectAuditSerializer
    filterset_class = AuditFilter
    pagination_class = NewestFirst
    queryset = AuditEntry.objects.none()

    @extend_schema(operation_id="projects_audit_list")
    def list(self, request: SignedInApiRequest, **_: Any) -> Response:
        """Read the audit log of a project.

        Newest first. Follow `next` for older entries.
        """
        return self.list_page(entries_of(self.project))
