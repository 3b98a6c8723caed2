"""What the reviewers' pages show in their own way."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

#: Keys whose names are too long for a button.
CAPS = {"Enter": "Enter", "Backspace": "⌫", "Delete": "Del"}
#: How sure somebody says they are, and what is stored.
SURENESS = ((0.5, "A guess"), (0.7, "Rather sure"), (0.9, "Sure"), (0.99, "Certain"))


@register.simple_tag
def key_cap(keys: str) -> SafeString:
    """The first of an action's keys as it is printed on a button, nothing without any; screen
    readers hear the button alone."""
    if not keys:
        return format_html("")
    key = keys.split(" ", maxsplit=1)[0]
    return format_html('<kbd aria-hidden="true">{}</kbd>', CAPS.get(key, key.upper()))


@register.simple_tag
def sureness_choices() -> tuple[tuple[float, str], ...]:
    """Value and words of each answer to how sure somebody is."""
    return SURENESS
