"""What every page about a site's offers shows around its own content."""

from typing import Any

from django.urls import reverse

from apps.accounts.http import SignedInRequest
from apps.authors.models import Site
from apps.authors.pages import Tab, site_page
from apps.echo.models import Echo

_VIEWS = (
    ("offers", "Offers", "site_offers"),
    ("catalogue", "Catalogue", "site_catalogue"),
    ("experiments", "Experiments", "offer_experiment_list"),
)


def offers_page(
    request: SignedInRequest, site: Site, echo: Echo | None, view: str
) -> dict[str, Any]:
    """The frame, with the pages beside this one and whether Echo is on."""
    place = [site.project.slug, site.pk]
    views = [Tab(reverse(name, args=place), words, key == view) for key, words, name in _VIEWS]
    frame = site_page(request, site, "offers")
    return frame | {"views": views, "echo": echo, "echo_on": echo is not None and echo.on}
