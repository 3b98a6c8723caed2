"""Read-only admin pages."""

from typing import Any

from django.http import HttpRequest
from unfold.admin import ModelAdmin


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
