"""What tables of debates show of each."""

from typing import Any

from django import template

from apps.debates.conversation.standing import gold_of, same, turn_of_mind, verdict_of
from apps.debates.models import Debate

register = template.Library()


@register.simple_tag
def outcome_of(debate: Debate) -> dict[str, Any]:
    """Value, gold and first opinion of a debate in a list, and how they stand to each other."""
    value, gold = verdict_of(debate), gold_of(debate)
    first = debate.signals.get("first")
    return {
        "value": value,
        "gold": gold,
        "agrees": same(value, gold.value) if gold is not None and value is not None else None,
        "first": first,
        "turned": turn_of_mind(first, value, gold.value if gold else None),
    }
