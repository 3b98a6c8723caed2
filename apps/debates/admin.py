"""Runs, debates and calls for operators, read-only because the runs write them."""

from django.contrib import admin

from apps.common.readonly import ReadOnlyAdmin
from apps.debates.models import Debate, Run, Turn


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs."""

    list_display = ["id", "project", "protocol", "status", "pause_code", "created_by", "created_at"]
    list_filter = ["status", "protocol"]
    list_select_related = ["project", "created_by"]
    search_fields = ["=id", "project__slug", "project__name", "message", "spec_hash"]
    date_hierarchy = "created_at"


@admin.register(Debate)
class DebateAdmin(ReadOnlyAdmin):
    """Debates."""

    list_display = ["id", "run", "item", "replicate", "status", "finished_at"]
    list_filter = ["status"]
    list_select_related = ["run", "item"]
    search_fields = ["=id", "=run__id", "item__external_id", "error"]


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    """Calls with request and answer."""

    list_display = [
        "id",
        "debate_id",
        "step",
        "attempt",
        "model",
        "status",
        "tokens_in",
        "tokens_out",
        "seconds",
    ]
    list_filter = ["status", "role", "model"]
    list_select_related = ["model", "prompt"]
    search_fields = ["=id", "=debate__id", "=debate__run__id", "text", "note"]
