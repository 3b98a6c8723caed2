"""What every page of a site shows around its own content."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Role
from apps.authors.models import Site
from apps.projects.models import Project
from apps.projects.pages import project_page

#: Key, words, URL name. The numbers are for every member; what authors wrote is for managers.
TABS = (
    ("overview", "Overview", "site_overview"),
    ("live", "Live", "site_live"),
    ("install", "Install", "site_install"),
    ("console", "Test console", "site_console"),
    ("questions", "Questions", "site_questions"),
    ("echo", "Echo", "site_echo"),
    ("offers", "Offers", "site_offers"),
    ("authors", "Authors", "site_authors"),
    ("rewards", "Rewards", "site_rewards"),
    ("settings", "Settings", "site_settings"),
)
FOR_EVERYBODY = {"overview", "echo", "offers"}


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab as ``components/tabs.html`` draws it."""

    url: str
    text: str
    current: bool
    count: int | None = None


def sites_page(request: SignedInRequest, project: Project) -> dict[str, Any]:
    """The project's frame with "Sites" as where one is, and whether the person manages."""
    page = project_page(request, project, "sites")
    return page | {"manages": page["role"] == Role.MANAGER}


def site_page(request: SignedInRequest, site: Site, tab: str) -> dict[str, Any]:
    """The frame of one site's page, with the tabs that the person may open."""
    page = sites_page(request, site.project)
    offered = [tab for tab in TABS if page["manages"] or tab[0] in FOR_EVERYBODY]
    slug = site.project.slug
    tabs = [
        Tab(reverse(name, args=[slug, site.pk]), words, key == tab) for key, words, name in offered
    ]
    return page | {"site": site, "tabs": tabs}


def own_origin(request: SignedInRequest) -> str:
    """This server's own origin, as the browser that asks would send it."""
    return f"{request.scheme}://{request.get_host()}".lower()
