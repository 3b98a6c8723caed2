"""The demo's two pages for visitors: a shop with a chatbot of its own, and a whole chat.

They play a host: all they have of LabelHub is the script tag that any page would have.
"""

from functools import lru_cache
from itertools import zip_longest

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.dashboards.demo_site import CATALOGUE, SLUG, find_demo_site
from labelhub.core.echo.recommending.catalogue import read_catalogue
from labelhub.core.echo.recommending.items import Item


@lru_cache(maxsize=1)
def wares() -> tuple[Item, ...]:
    """What the shop sells, a little of each kind in turn: what Echo recommends from."""
    shelves: dict[str, list[Item]] = {}
    for item in read_catalogue(CATALOGUE.read_bytes()).items:
        shelves.setdefault(item.vertical, []).append(item)
    rows = zip_longest(*shelves.values())
    return tuple(item for row in rows for item in row if item is not None)


@require_safe
def demo_shop(request: HttpRequest) -> HttpResponse:
    """A shop whose own chatbot tells the widget what is written (companion mode)."""
    return _page(request, "demo/shop.html")


@require_safe
def demo_chat(request: HttpRequest) -> HttpResponse:
    """A chat that is all the widget's (chat mode)."""
    return _page(request, "demo/chat.html")


def _page(request: HttpRequest, template: str) -> HttpResponse:
    site = find_demo_site()
    if site is None:
        raise Http404("There is no demo here; 'manage.py demo' makes one.")
    context = {"site": site, "products": wares(), "project_slug": SLUG}
    return render(request, template, context)
