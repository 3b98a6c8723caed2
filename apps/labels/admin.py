"""The ledger for operators: to look up, never to change."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.common.readonly import ReadOnlyAdmin
from apps.labels.models import Annotator, Gold, ItemState, Label

#: Fields of items that no list shows and that may be long.
ITEM_TEXTS = ("item__text", "item__context", "item__question", "item__options", "item__meta")


class LedgerAdmin(ReadOnlyAdmin):
    """Rows to look up; the services write them."""

    unread: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows without the fields that no page shows."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.defer(*self.unread)


@admin.register(Annotator)
class AnnotatorAdmin(LedgerAdmin):
    """The annotators of all projects."""

    list_display = ["name", "kind", "project", "offline", "user"]
    list_filter = ["kind", "offline"]
    list_select_related = ["project", "user"]
    search_fields = ["name", "project__slug", "user__username"]


@admin.register(Label)
class LabelAdmin(LedgerAdmin):
    """The labels."""

    list_display = ["uid", "item", "annotator", "value", "action", "withdrawn", "created_at"]
    list_filter = ["role", "action", "withdrawn", "abstained", "rejected", "annotator__kind"]
    list_select_related = ["item", "annotator"]
    unread = ITEM_TEXTS
    search_fields = ["uid", "item__external_id", "annotator__name", "run_uid"]
    date_hierarchy = "created_at"


@admin.register(Gold)
class GoldAdmin(LedgerAdmin):
    """The decisions."""

    list_display = ["uid", "item", "value", "basis", "decided_by", "withdrawn", "created_at"]
    list_filter = ["basis", "withdrawn"]
    list_select_related = ["item", "decided_by"]
    unread = ITEM_TEXTS
    search_fields = ["uid", "item__external_id"]


@admin.register(ItemState)
class ItemStateAdmin(LedgerAdmin):
    """The states of the items."""

    list_display = [
        "item",
        "project",
        "stage",
        "queued",
        "priority",
        "labels_by_people",
        "required_labels",
        "updated_at",
    ]
    list_filter = ["stage", "queued"]
    list_select_related = ["item", "project"]
    unread = ITEM_TEXTS
    search_fields = ["item__external_id", "project__slug"]
