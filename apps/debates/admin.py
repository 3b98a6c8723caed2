"""Runs for operators: where they are, what they cost, and how to stop them."""

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.common.console import OperatorAdmin, badge, operator_action
from apps.common.figures import money
from apps.debates.models import Run
from apps.debates.services import cancel_run, pause_run, resume_run

TONES = {
    "running": "success", "queued": "info", "paused": "warning", "cancelled": "primary",
    "done": "success",
}  # fmt: skip


@admin.register(Run)
class RunAdmin(OperatorAdmin):
    """Runs."""

    title = _("Runs")
    list_display = [
        "id", "page", "protocol", "state", "message", "spent", "created_by", "created_at",
    ]  # fmt: skip
    list_filter = ["status", "pause_code", "protocol"]
    list_select_related = ["project", "created_by"]
    search_fields = ["=id", "project__slug", "project__name"]
    fields = [
        "page", "protocol", "state", "message", "resume_at", "spent", "turns_count", "tokens_in",
        "tokens_out", "created_by", "created_at", "finished_at",
    ]  # fmt: skip
    readonly_fields = fields
    actions = ["pause", "resume", "cancel"]
    empty_words = _("No such run. Managers start runs on the page Runs of a project.")

    @admin.display(description=_("Project"), ordering="project__slug")
    def page(self, run: Run) -> SafeString:
        url = reverse("run_detail", args=[run.project.slug, run.pk])
        return format_html('<a class="text-link" href="{}">{}</a>', url, run.project)

    @admin.display(description=_("Status"), ordering="status")
    def state(self, run: Run) -> SafeString:
        return badge(run.get_status_display(), TONES[run.status])

    @admin.display(description=_("Spent"), ordering="cost_nanousd")
    def spent(self, run: Run) -> str:
        spent = money(run.cost_nanousd)
        if run.budget_nanousd is None:
            return spent
        return gettext("%(spent)s of %(budget)s") % {
            "spent": spent, "budget": money(run.budget_nanousd),
        }  # fmt: skip

    @operator_action(_("Pause"))
    def pause(self, _request: HttpRequest, run: Run) -> bool:
        pause_run(run=run)
        return True

    @operator_action(_("Resume"))
    def resume(self, _request: HttpRequest, run: Run) -> bool:
        """Its failed debates are tried again."""
        resume_run(run=run)
        return True

    @operator_action(
        _("Cancel"), question=_("The runs end for good. Their labels and their costs stay.")
    )
    def cancel(self, _request: HttpRequest, run: Run) -> bool:
        cancel_run(run=run)
        return True
