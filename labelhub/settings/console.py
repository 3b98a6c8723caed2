"""Settings of the operator's console, for the theme django-unfold."""

from django.http import HttpRequest
from django.templatetags.static import static
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


UNFOLD = {
    "SITE_TITLE": "LabelHub",
    "SITE_HEADER": "LabelHub",
    "SITE_SUBHEADER": _("Administration"),
    "SITE_ICON": icon,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": icon}],
    "COLORS": {"primary": INK},
    "THEME": theme,
    "SIDEBAR": {"show_search": True},
}
