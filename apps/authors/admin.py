"""Receipts of what authors had deleted. Their sites have pages of their own."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from apps.authors.models import Erasure
from apps.common.console import OperatorAdmin


@admin.register(Erasure)
class ErasureAdmin(OperatorAdmin):
    """Proofs of deletion; they tell how much, and not whose."""

    title = _("Receipts of deletion")
    list_display = ["receipt", "site", "removed", "erased_at"]
    list_select_related = ["site"]
    search_fields = ["=receipt"]
    empty_words = _("No author has asked for the deletion of their data.")
