"""Values and names of labels and of others, in the language of the page."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from labelhub.core import schema


def value_words(value: Any) -> str:
    """A label's value in words; label names are as their author wrote them."""
    return gettext("None of these") if value == [] else schema.value_words(value)


def quoted(name: str) -> str:
    """A name in quotation marks."""
    return gettext("“%(name)s”") % {"name": name}


def join_names(names: Sequence[str]) -> str:
    """``a, b and c``."""
    if len(names) == 1:
        return names[0]
    return gettext("%(names)s and %(last)s") % {"names": ", ".join(names[:-1]), "last": names[-1]}
