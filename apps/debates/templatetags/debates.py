"""Filters for pages about debates."""

from django import template

from apps.debates import reasons

register = template.Library()


@register.filter
def reason_words(code: str) -> str:
    """A reason's code in words."""
    return reasons.reason_words(str(code))
