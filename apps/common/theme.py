"""Theme and width of the navigation, in cookies, so that pages render with them."""

from django.http import HttpRequest

THEME_COOKIE = "labelhub_theme"
NAV_COOKIE = "labelhub_nav"
THEMES = ("auto", "light", "dark")
ONE_YEAR = 365 * 24 * 3600


def current_theme(request: HttpRequest | None) -> str:
    """The theme of this browser; ``auto`` follows the system. Error pages have no request."""
    chosen = request.COOKIES.get(THEME_COOKIE, "auto") if request is not None else "auto"
    return chosen if chosen in THEMES else "auto"


def is_nav_narrow(request: HttpRequest | None) -> bool:
    """Whether this browser shows the narrow navigation."""
    return request is not None and request.COOKIES.get(NAV_COOKIE) == "narrow"
