"""Settings of the operator's console, for the theme django-unfold."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

from apps.common.theme import current_theme

#: The accents of static/css/tokens.css, from light to dark.
INK = {
    "50": "#f3f6fa",
    "100": "#e2e8ef",
    "200": "#cfdcee",
    "300": "#b3c6de",
    "400": "#93aecd",
    "500": "#6f93bb",
    "600": "#34506f",
    "700": "#2a4360",
    "800": "#20344d",
    "900": "#1a2a3f",
    "950": "#14202f",
}


def icon(_request: object) -> str:
    """The address of the logo."""
    return static("favicon.svg")


def theme(request: HttpRequest) -> str | None:
    """The theme that this browser chose in LabelHub; None follows the system."""
    chosen = current_theme(request)
    return None if chosen == "auto" else chosen


def _link(words: Any, icon_name: str, page: str) -> dict[str, Any]:
    return {"title": words, "icon": icon_name, "link": reverse_lazy(page)}


def _group(words: Any, *links: dict[str, Any]) -> dict[str, Any]:
    return {"title": words, "items": links}


def _never(_request: object) -> bool:
    return False


#: The console's pages, and those of the product that operators need beside them.
NAVIGATION = [
    _group(
        _("Overview"),
        _link(_("Overview"), "monitor_heart", "admin:index"),
        _link(_("Back to LabelHub"), "arrow_back", "home") | {"active": _never},
    ),
    _group(
        _("People"),
        _link(_("Users"), "group", "admin:accounts_user_changelist"),
        _link(_("API keys"), "key", "admin:accounts_apikey_changelist"),
    ),
    _group(
        _("Models and spending"),
        _link(_("Model providers"), "neurology", "admin:llm_provider_changelist"),
        _link(_("Spending by day"), "payments", "admin:llm_dailyuse_changelist"),
    ),
    _group(
        _("Work"),
        _link(_("Jobs"), "work_history", "admin:common_job_changelist"),
        _link(_("Runs"), "forum", "admin:debates_run_changelist"),
    ),
    _group(
        _("Records"),
        _link(_("Audit log"), "history", "audit_log"),
        _link(_("Receipts of deletion"), "delete_history", "admin:authors_erasure_changelist"),
    ),
]
UNFOLD = {
    "SITE_TITLE": "LabelHub",
    "SITE_HEADER": "LabelHub",
    "SITE_SUBHEADER": _("Administration"),
    "SITE_ICON": icon,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": icon}],
    "COLORS": {"primary": INK},
    "THEME": theme,
    "SHOW_HISTORY": False,  # the audit log has it
    "DASHBOARD_CALLBACK": "labelhub.console.overview.overview",
    "SIDEBAR": {"navigation": NAVIGATION},
}
