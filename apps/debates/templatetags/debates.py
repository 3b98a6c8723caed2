"""Filters and tags for pages about debates."""

from typing import Any

from django import template
from django.utils.translation import gettext, gettext_noop

from apps.debates import naming
from apps.debates.conversation.summary import gold_of, opinion_change, same_value, verdict_of
from apps.debates.models import Debate

register = template.Library()
_MESSAGES = {
    "system": gettext_noop("System message"),
    "user": gettext_noop("User message"),
    "assistant": gettext_noop("Assistant message"),
}


@register.filter
def reason_words(code: str) -> str:
    """A reason's code in words."""
    return naming.reason_words(str(code))


@register.filter
def protocol_title(name: str) -> str:
    """A protocol's name in words."""
    return naming.protocol_title(str(name))


@register.filter
def annotator_words(name: str) -> str:
    """An annotator's name, with the protocol of a run in words."""
    return naming.annotator_words(str(name))


@register.filter
def role_words(role: str) -> str:
    """A role's name in words."""
    return naming.role_words(str(role))


@register.filter
def role_name(role: str) -> str:
    """A role within a sentence."""
    return naming.role_name(str(role))


@register.filter
def message_title(role: str) -> str:
    """A message to a model by its role."""
    words = _MESSAGES.get(role)
    return gettext(words) if words else str(role)


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
