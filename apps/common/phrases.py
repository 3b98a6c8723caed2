"""Phrases of :mod:`labelhub.core.phrases` in the reader's language, and their column."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.translation import gettext, ngettext

from apps.common.figures import localise
from labelhub.core.phrases import Phrase, fill_pattern, number_text


def print_phrase(phrase: Phrase) -> str:
    """The text in the active language; English where it has no translation."""
    if phrase.plural:
        text = ngettext(phrase.pattern, phrase.plural, phrase.values["count"])
    else:
        text = gettext(phrase.pattern) if phrase.pattern else ""
    return fill_pattern(text, phrase.values, _show)


def _show(value: Any) -> str:
    return str(value) if isinstance(value, str) else localise(number_text(value))


class PhraseField(models.TextField[Any, Any]):
    """A text for people: the pattern and values of a phrase, or an English text as it is."""

    def from_db_value(self, value: str | None, *_: object) -> Phrase | None:
        """The phrase of a row."""
        return None if value is None else Phrase.read(value)

    def get_db_prep_save(self, value: Any, connection: BaseDatabaseWrapper) -> Any:
        """What the row stores."""
        words = Phrase(value).stored() if isinstance(value, str) else value
        return super().get_db_prep_save(words, connection)
