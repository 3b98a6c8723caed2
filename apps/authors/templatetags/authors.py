"""Template filters of the pages about rewards."""

from django import template
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.selectors.sites import money_words
from apps.common.figures import localise

register = template.Library()

_STATES = {
    "held": _("Held"),
    "due": _("Due"),
    "paid": _("Paid"),
    "void": _("Void"),
}


@register.filter("cents")
def cents_words(cents: int, currency: str) -> str:
    """An amount: ``0.05 USD``, in German ``0,05 USD``."""
    return localise(money_words(cents, currency))


@register.filter
def reward_state(state: str) -> StrOrPromise:
    return _STATES.get(state, state)
