"""Template filters of the pages about rewards."""

from django import template
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.authors.selectors.sites import money_words

register = template.Library()

_STATES = {
    "held": _("Held"),
    "due": _("Due"),
    "paid": _("Paid"),
    "void": _("Void"),
}


register.filter("cents", money_words)


@register.filter
def reward_state(state: str) -> StrOrPromise:
    """A reward's state as people read it."""
    return _STATES.get(state, state)
