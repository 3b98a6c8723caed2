"""Projects in the operator's console. Schemas, guidelines, items and imports are read-only."""

from typing import Any, cast

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline

from apps.accounts.models import User
from apps.common.readonly import ReadOnly, ReadOnlyAdmin, RecordedAdmin
from apps.projects.models import Guideline, ImportBatch, Item, LabelSchema, Membership, Project
from apps.projects.selectors import is_last_manager
from apps.projects.services import remove_member, set_member


class MembershipInline(ReadOnly, TabularInline):
    """A project's members, read-only: change them under "Memberships" or on the People page."""

    model = Membership
    raw_id_fields = ["user"]
    extra = 0


@admin.register(Project)
class ProjectAdmin(RecordedAdmin):
    """Projects. The review plan has its own page, which also updates the items."""

    list_display = ["slug", "name", "overlap", "review_scope", "created_by", "created_at"]
    list_filter = ["review_scope", "created_at"]
    search_fields = ["slug", "name", "description"]
    list_select_related = ["created_by"]
    date_hierarchy = "created_at"
    fields = ["slug", "name", "description", "overlap", "review_scope", "created_by", "created_at"]
    readonly_fields = ["slug", "overlap", "review_scope", "created_by", "created_at"]
    inlines = [MembershipInline]

    def has_add_permission(self, _request: HttpRequest) -> bool:
        """No: a project needs its label schema. Use the page, REST or the command."""
        return False


@admin.register(Membership)
class MembershipAdmin(ModelAdmin):
    """Members. Services make every change, so that each project keeps a manager."""

    list_display = ["user", "project", "role", "kind", "created_at"]
    list_filter = ["role", "kind"]
    search_fields = ["user__username", "user__email", "project__slug", "project__name"]
    list_select_related = ["user", "project"]
    raw_id_fields = ["user", "project"]

    def get_readonly_fields(
        self, _request: HttpRequest, obj: Membership | None = None
    ) -> list[str]:
        return ["user", "project"] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        """Not for the last manager; also asked when an account is deleted."""
        return super().has_delete_permission(request, obj) and not (obj and is_last_manager(obj))

    def save_model(self, request: HttpRequest, obj: Membership, *_: Any) -> None:
        saved = set_member(
            project=obj.project,
            user=obj.user,
            role=obj.role,
            kind=obj.kind,
            actor=cast(User, request.user),
        )
        obj.pk = saved.pk

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        remove_member(project=obj.project, user=obj.user, actor=cast(User, request.user))

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        for member in queryset.select_related("project", "user"):
            self.delete_model(request, member)


@admin.register(LabelSchema)
class LabelSchemaAdmin(ReadOnlyAdmin):
    list_display = ["project", "version", "created_by", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["project__slug", "project__name"]
    list_select_related = ["project", "created_by"]


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyAdmin):
    list_display = ["project", "version", "created_by", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["project__slug", "project__name", "text"]
    list_select_related = ["project", "created_by"]


@admin.register(Item)
class ItemAdmin(ReadOnlyAdmin):
    """Texts. The list shows no total, as counting a million rows is slow."""

    list_display = ["external_id", "project", "beginning", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["external_id__startswith", "project__slug", "text"]
    list_select_related = ["project"]

    @admin.display(description="text")
    def beginning(self, item: Item) -> str:
        return item.text[:100]


@admin.register(ImportBatch)
class ImportBatchAdmin(ReadOnlyAdmin):
    list_display = [
        "file_name",
        "project",
        "status",
        "created",
        "unchanged",
        "conflicts",
        "failed",
        "created_by",
        "created_at",
    ]
    list_filter = ["status", "format", "created_at"]
    search_fields = ["file_name", "project__slug", "project__name"]
    list_select_related = ["project", "created_by"]
    date_hierarchy = "created_at"
