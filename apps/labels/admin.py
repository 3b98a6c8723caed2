"""The ledger for operators: to look up, never to change."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from apps.common.console import OperatorAdmin
from apps.labels.models import Gold, Label

#: Fields of items that no list shows and that may be long.
ITEM_TEXTS = ("item__text", "item__context", "item__question", "item__options", "item__meta")


class LedgerAdmin(OperatorAdmin):
    """Rows to look up; the services write them."""

    list_select_related = ["item__project"]
    empty_words = _("No such label. Search by its id, or by the id of its item.")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows without the fields that no page shows."""
        rows: QuerySet[Any] = super().get_queryset(request)
        return rows.defer(*ITEM_TEXTS)

    @admin.display(description=_("Project"))
    def project(self, row: Label | Gold) -> str:
        """Its project."""
        return str(row.item.project)


@admin.register(Label)
class LabelAdmin(LedgerAdmin):
    """The labels."""

    title = _("Labels")
    list_display = [
        "uid", "project", "item", "annotator", "value", "action", "withdrawn", "created_at",
    ]  # fmt: skip
    list_filter = ["role", "action", "withdrawn", "annotator__kind"]
    list_select_related = ["item__project", "annotator"]
    search_fields = ["uid", "item__external_id", "annotator__name", "run_uid"]


@admin.register(Gold)
class GoldAdmin(LedgerAdmin):
    """The decisions."""

    title = _("Gold")
    list_display = [
        "uid", "project", "item", "value", "basis", "decided_by", "withdrawn", "created_at",
    ]  # fmt: skip
    list_filter = ["basis", "withdrawn"]
    list_select_related = ["item__project", "decided_by"]
    search_fields = ["uid", "item__external_id"]
