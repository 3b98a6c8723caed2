"""Model providers and what was spent with them, for operators."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.common.console import OperatorAdmin, badge, operator_action
from apps.common.figures import money, share_words
from apps.llm import services
from apps.llm.models import DailyUse, Provider
from apps.llm.probe import check_provider
from labelhub.core.errors import Conflict

TONES = {
    "failing": "danger", "limited": "danger", "paused": "warning", "ok": "success",
    "removed": "primary",
}  # fmt: skip
#: The states of a provider, in words.
STATES: dict[str, Any] = {
    "ok": _("ok"),
    "paused": _("paused"),
    "limited": _("refuses calls (429)"),
    "failing": _("failed its test"),
    "removed": _("removed"),
}


def known_cost(nanousd: int, unpriced: int) -> str:
    """What calls cost; at least so much if the price of some is unknown."""
    return f"≥ {money(nanousd)}" if unpriced else money(nanousd)


@admin.register(Provider)
class ProviderAdmin(OperatorAdmin):
    """Providers; their addresses, keys and models are changed on their own page."""

    title = _("Model providers")
    list_display = ["name", "state", "kind", "base_url", "project", "page"]
    list_filter = ["kind", ("removed_at", admin.EmptyFieldListFilter)]
    list_select_related = ["project"]
    search_fields = ["name", "base_url", "project__slug"]
    fields = [
        "page", "name", "state", "kind", "base_url", "project", "max_concurrency", "rpm", "tpm",
        "rpd", "tpd", "learnt_limits", "paused_at", "removed_at", "created_at",
    ]  # fmt: skip
    readonly_fields = fields
    actions = ["pause", "resume", "test"]
    empty_words = _("No such provider. Add one under Model providers.")

    @admin.display(description=_("State"))
    def state(self, provider: Provider) -> SafeString:
        return badge(STATES[provider.state], TONES[provider.state])

    @admin.display(description=_("Settings"))
    def page(self, provider: Provider) -> SafeString | str:
        """Its page; the text matcher has none."""
        if provider.kind == Provider.Kind.OFFLINE or provider.removed_at is not None:
            return "–"
        if provider.project is None:
            url = reverse("provider_edit", args=[provider.pk])
        else:
            url = reverse("project_provider_edit", args=[provider.project.slug, provider.pk])
        return format_html('<a class="text-link" href="{}">{}</a>', url, gettext("Settings"))

    @operator_action(
        _("Pause"),
        question=_(
            "Nothing calls these providers until somebody resumes them. Runs that use them pause "
            "and say why; authors are not asked."
        ),
        seen=["paused_at"],
    )
    def pause(self, _request: HttpRequest, provider: Provider) -> bool:
        return services.pause_provider(provider, paused=True)

    @operator_action(_("Resume"))
    def resume(self, _request: HttpRequest, provider: Provider) -> bool:
        """Let all call it again; the runs that it paused are resumed by hand."""
        return services.pause_provider(provider, paused=False)

    @operator_action(_("Test"), single=True, waits=True)
    def test(self, _request: HttpRequest, provider: Provider) -> str:
        check = check_provider(provider)
        if not check.ok:
            raise Conflict("%(words)s", words=check.words)
        services.note_passed_test(provider)
        return check.words


@admin.register(DailyUse)
class DailyUseAdmin(OperatorAdmin):
    """What was used and spent, by provider and day (UTC)."""

    title = _("Spending by day")
    list_display = ["day", "provider", "cost", "requests", "error_share", "tokens"]
    list_display_links = None
    list_filter = ["provider"]
    list_select_related = ["provider"]
    date_hierarchy = "day"
    empty_words = _("No model was called on these days.")

    @admin.display(description=_("Cost"), ordering="cost_nanousd")
    def cost(self, use: DailyUse) -> str:
        return known_cost(use.cost_nanousd, use.unpriced)

    @admin.display(description=_("Errors"), ordering="errors")
    def error_share(self, use: DailyUse) -> str:
        return share_words(use.errors / use.requests) if use.requests else "–"
