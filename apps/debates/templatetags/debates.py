"""Filters and tags for pages about debates."""

from typing import Any

from django import template

from apps.debates import naming
from apps.debates.conversation.summary import gold_of, opinion_change, same_value, verdict_of
from apps.debates.models import Debate

register = template.Library()


@register.filter
def reason_words(code: str) -> str:
    """A reason's code in words."""
    return naming.reason_words(str(code))


@register.filter
def protocol_title(name: str) -> str:
    """A protocol's name in words."""
    return naming.protocol_title(str(name))


@register.filter
def role_words(role: str) -> str:
    """A role's name in words."""
    return naming.role_words(str(role))


@register.simple_tag
def outcome_of(debate: Debate) -> dict[str, Any]:
    """Value, gold and first opinion of a debate in a list, and how they compare."""
    value, gold = verdict_of(debate), gold_of(debate)
    first = debate.signals.get("first")
    return {
        "value": value,
        "gold": gold,
        "agrees": same_value(value, gold.value) if gold is not None and value is not None else None,
        "first": first,
        "turned": opinion_change(first, value, gold.value if gold else None),
    }
