"""The demo's two pages for visitors: a shop with a chatbot of its own, and a whole chat.

They play a host: all they have of LabelHub is the script tag that any page would have.
"""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.dashboards.demo_site import SLUG, find_demo_site


@dataclass(frozen=True, slots=True)
class Product:
    """Something the shop sells; ``shape`` names its drawing."""

    name: str
    price: int
    words: str
    shape: str


PRODUCTS = (
    Product("Two-person tent", 129, "Up in five minutes, dry for three seasons.", "tent"),
    Product("Storm lamp", 34, "Warm light for forty hours on one charge.", "lamp"),
    Product("Day backpack", 59, "Twenty litres, a laptop fits, rain does not.", "backpack"),
    Product("Camping kettle", 22, "Boils a litre on anything that burns.", "kettle"),
    Product("Wool blanket", 48, "Heavy, soft, washable at thirty degrees.", "blanket"),
    Product("Head torch", 27, "Weighs 60 g; red light for reading maps.", "torch"),
)


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
    context = {"site": site, "products": PRODUCTS, "project_slug": SLUG}
    return render(request, template, context)
