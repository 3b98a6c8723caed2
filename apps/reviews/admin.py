"""The queue for operators: who holds what, who decided what; leases can be ended."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.common.readonly import ReadOnlyAdmin
from apps.reviews.models import Decision, Slot
from apps.reviews.queue.leases import free_slots


@admin.register(Slot)
class SlotAdmin(ReadOnlyAdmin):
    list_display = ["id", "project", "item", "number", "holder", "lease_until", "label"]
    list_filter = ["lease_until", "project"]
    list_select_related = ["project", "item", "holder", "label"]
    search_fields = ["item__external_id", "holder__username", "project__slug"]
    ordering = ["-pk"]
    actions = ["release"]

    @admin.action(
        description="End the leases: others may have the items at once", permissions=["release"]
    )
    def release(self, request: HttpRequest, queryset: QuerySet[Slot]) -> None:
        """Free the chosen slots; a submit that still comes is stored as late."""
        freed = free_slots(queryset)
        messages.success(request, f"{freed} freed; slots that hold a label stay as they are.")

    def has_release_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("reviews.change_slot"))


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = [
        "id", "project", "item", "reviewer", "action", "late", "extra", "undone_at", "created_at",
    ]  # fmt: skip
    list_filter = ["action", "late", "extra", "created_at", "project"]
    list_select_related = ["project", "item", "reviewer"]
    search_fields = ["item__external_id", "reviewer__username", "project__slug", "comment"]
    date_hierarchy = "created_at"
