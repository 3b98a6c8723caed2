"""The operator's view of projects. What labels rest on is read-only here."""

from typing import Any, cast

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.accounts.models import User
from apps.common.readonly import ReadOnlyAdmin
from apps.projects.models import Guideline, ImportBatch, Item, LabelSchema, Membership, Project
from apps.projects.selectors import is_last_manager
from apps.projects.services import remove_member, set_member


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]  # generic only in the stubs
    """The team, on the project's page; it changes under "Memberships" and on the page of people."""

    model = Membership
    raw_id_fields = ["user"]
    extra = 0

    def has_add_permission(self, _request: HttpRequest, _obj: Project | None = None) -> bool:
        """Not here."""
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """Not here."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """Not here."""
        return False


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic only in the stubs
    """Projects; the review plan is changed on its own page, which also plans the items anew."""

    list_display = ["slug", "name", "overlap", "review_scope", "created_by", "created_at"]
    list_filter = ["review_scope", "created_at"]
    search_fields = ["slug", "name", "description"]
    list_select_related = ["created_by"]
    date_hierarchy = "created_at"
    fields = ["slug", "name", "description", "overlap", "review_scope", "created_by", "created_at"]
    readonly_fields = ["slug", "overlap", "review_scope", "created_by", "created_at"]
    inlines = [MembershipInline]

    def has_add_permission(self, _request: HttpRequest) -> bool:
        """A project needs its label schema: made on its page, by REST or by command."""
        return False


@admin.register(Membership)
class MembershipAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic only in the stubs
    """Who is what where; every change is the services', which keep a manager in each project."""

    list_display = ["user", "project", "role", "kind", "created_at"]
    list_filter = ["role", "kind"]
    search_fields = ["user__username", "user__email", "project__slug", "project__name"]
    list_select_related = ["user", "project"]
    raw_id_fields = ["user", "project"]

    def get_readonly_fields(
        self, _request: HttpRequest, obj: Membership | None = None
    ) -> list[str]:
        """Whose place it is, and where, stays."""
        return ["user", "project"] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Membership | None = None) -> bool:
        """Also asked when an account is to be deleted, whose places go with it."""
        return super().has_delete_permission(request, obj) and not (obj and is_last_manager(obj))

    def save_model(self, request: HttpRequest, obj: Membership, *_: Any) -> None:
        """As on the page of people."""
        saved = set_member(
            project=obj.project,
            user=obj.user,
            role=obj.role,
            kind=obj.kind,
            actor=cast(User, request.user),
        )
        obj.pk = saved.pk

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        """As on the page of people."""
        remove_member(project=obj.project, user=obj.user, actor=cast(User, request.user))

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """All of them or none."""
        for member in queryset.select_related("project", "user"):
            self.delete_model(request, member)


@admin.register(LabelSchema)
class LabelSchemaAdmin(ReadOnlyAdmin):
    """Every version of every label schema."""

    list_display = ["project", "version", "created_by", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["project__slug", "project__name"]
    list_select_related = ["project", "created_by"]


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyAdmin):
    """Every version of every guideline."""

    list_display = ["project", "version", "created_by", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["project__slug", "project__name", "text"]
    list_select_related = ["project", "created_by"]


@admin.register(Item)
class ItemAdmin(ReadOnlyAdmin):
    """Texts. Counting a million of them for a page's head is left out."""

    list_display = ["external_id", "project", "beginning", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["external_id__startswith", "project__slug", "text"]
    list_select_related = ["project"]
    show_full_result_count = False
    list_per_page = 50

    @admin.display(description="text")
    def beginning(self, item: Item) -> str:
        """The first words."""
        return item.text[:100]


@admin.register(ImportBatch)
class ImportBatchAdmin(ReadOnlyAdmin):
    """Imports and what became of them."""

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
