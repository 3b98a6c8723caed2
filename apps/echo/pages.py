"""The frame of the pages about offers."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.accounts.http import SignedInRequest
from apps.authors.models import Site
from apps.authors.pages import site_page
from apps.echo.models import Echo

_VIEWS = (
    ("offers", _("Offers"), "site_offers"),
    ("catalogue", _("Catalogue"), "site_catalogue"),
    ("experiments", _("Experiments"), "offer_experiment_list"),
)


def offers_page(
    request: SignedInRequest, site: Site, echo: Echo | None, view: str
) -> dict[str, Any]:
    """The context of a page about offers: tabs, Echo, and whether it is on."""
    place = [site.project.slug, site.pk]
    views = [
        {"url": reverse(name, args=place), "text": words, "current": key == view}
        for key, words, name in _VIEWS
    ]
    frame = site_page(request, site, "offers")
    return frame | {"views": views, "echo": echo, "echo_on": echo is not None and echo.on}
