"""The frame of a site's pages: heading and tabs."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Role
from apps.authors.models import Site
from apps.projects.models import Project
from apps.projects.pages import project_page

#: Key, words, URL name. Every member may see the counts; only managers see what authors wrote.
TABS = (
    ("overview", _("Overview"), "site_overview"),
    ("live", _("Live"), "site_live"),
    ("install", _("Install"), "site_install"),
    ("console", _("Test console"), "site_console"),
    ("questions", _("Questions"), "site_questions"),
    ("echo", "Echo", "site_echo"),
    ("offers", _("Offers"), "site_offers"),
    ("authors", _("Authors"), "site_authors"),
    ("rewards", _("Rewards"), "site_rewards"),
    ("settings", _("Settings"), "site_settings"),
)
#: Days that the numbers of a page may be of.
WINDOW_WORDS = {7: _("7 days"), 28: _("4 weeks"), 91: _("13 weeks")}
FOR_EVERYBODY = {"overview", "echo", "offers"}


def sites_page(request: SignedInRequest, project: Project) -> dict[str, Any]:
    """The project's frame with "Sites" as the current page, and whether the user is a manager."""
    page = project_page(request, project, "sites")
    return page | {"manages": page["role"] == Role.MANAGER}


def site_page(request: SignedInRequest, site: Site, tab: str) -> dict[str, Any]:
    """The frame of a site's page, with the tabs that the user may open."""
    page = sites_page(request, site.project)
    offered = [tab for tab in TABS if page["manages"] or tab[0] in FOR_EVERYBODY]
    slug = site.project.slug
    tabs = [
        {"url": reverse(name, args=[slug, site.pk]), "text": words, "current": key == tab}
        for key, words, name in offered
    ]
    return page | {"site": site, "tabs": tabs}


def chosen_days(request: SignedInRequest) -> int:
    given = request.GET.get("days", "")
    return next((days for days in WINDOW_WORDS if str(days) == given), 7)


def own_origin(request: HttpRequest) -> str:
    """This server's own origin, as the user's browser would send it."""
    return f"{request.scheme}://{request.get_host()}".lower()
