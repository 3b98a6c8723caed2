"""Labels' values in the language of the page."""

from typing import Any

from django.utils.translation import gettext

from labelhub.core import schema


def value_words(value: Any) -> str:
    """A label's value in words; label names are as their author wrote them."""
    return gettext("None of these") if value == [] else schema.value_words(value)
