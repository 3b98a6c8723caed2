"""Filters for pages about debates."""

from django import template

from apps.debates import naming, reasons

register = template.Library()


@register.filter
def reason_words(code: str) -> str:
    """A reason's code in words."""
    return reasons.reason_words(str(code))


@register.filter
def protocol_title(name: str) -> str:
    """A protocol's name in words."""
    return naming.protocol_title(str(name))


@register.filter
def role_words(role: str) -> str:
    """A role's name in words."""
    return naming.role_words(str(role))
