"""Template filters of the pages about rewards."""

from django import template

from apps.authors.selectors.sites import money_words

register = template.Library()

_STATES = {
    "held": "Held",
    "due": "Due",
    "paid": "Paid",
    "void": "Void",
}


@register.filter
def cents(amount: int, currency: str) -> str:
    """``0.05 USD``."""
    return money_words(amount, currency)


@register.filter
def reward_state(state: str) -> str:
    """A reward's state as people read it."""
    return _STATES.get(state, state)
