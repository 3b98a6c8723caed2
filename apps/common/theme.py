"""Light, dark or as the system has it: a cookie, so that the first byte of a page knows it."""

from django.http import HttpRequest

THEME_COOKIE = "labelhub_theme"
NAV_COOKIE = "labelhub_nav"
THEMES = ("auto", "light", "dark")
ONE_YEAR = 365 * 24 * 3600


def current_theme(request: HttpRequest | None) -> str:
    """The theme of this browser; ``auto`` follows the system. Pages of errors have no request."""
    chosen = request.COOKIES.get(THEME_COOKIE, "auto") if request is not None else "auto"
    return chosen if chosen in THEMES else "auto"


def keeps_nav_narrow(request: HttpRequest | None) -> bool:
    """Whether this browser keeps the project navigation narrow."""
    return request is not None and request.COOKIES.get(NAV_COOKIE) == "narrow"
