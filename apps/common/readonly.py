"""Admin pages: read-only ones, and ones whose changes are recorded."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.admin import ModelAdmin

from apps.common.audit import Action, record


class ReadOnly:
    """Nothing is added, changed or deleted here; pages and services do."""

    def has_add_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """No."""
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """No."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _obj: Any = None) -> bool:
        """No."""
        return False


class ReadOnlyAdmin(ReadOnly, ModelAdmin):
    """A page to look up rows."""

    list_per_page = 50
    show_full_result_count = False  # a second count over tables that grow without end


class RecordedAdmin(ModelAdmin):
    """A page that changes rows itself; the audit log tells of each change."""

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Actions are one transaction with what they record, as changes are."""
        with transaction.atomic():
            response: HttpResponse = super().changelist_view(request, extra_context)
        return response

    def save_model(
        self,
        request: HttpRequest,
        obj: Any,
        form: Any,
        change: bool,  # noqa: FBT001 - as Django calls it
    ) -> None:
        """Save and record: values of numbers, choices and truth values; of texts only the field."""
        super().save_model(request, obj, form, change)
        changes = {
            name: (form.initial.get(name), form.cleaned_data[name])
            if isinstance(form.cleaned_data[name], bool | int | float)
            else (None, None)
            for name in form.changed_data
        }
        record(Action.CONSOLE_CHANGED if change else Action.CONSOLE_ADDED, obj, changes=changes)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Called before rows are deleted, one or several."""
        for row in queryset:
            record(Action.CONSOLE_DELETED, row)
        return super().log_deletions(request, queryset)
