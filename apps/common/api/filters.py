"""Filters that refuse invalid values."""

from typing import Any

import django_filters
from django import forms

_WORDS = {"true": True, "1": True, "false": False, "0": False}


class _TrueOrFalseField(forms.Field):
    def to_python(self, value: Any) -> bool | None:
        if value in self.empty_values:
            return None
        if str(value).lower() not in _WORDS:
            raise forms.ValidationError("must be true or false.")
        return _WORDS[str(value).lower()]


class BooleanFilter(django_filters.BooleanFilter):
    """``true`` or ``false``, or 1 or 0; django-filter's own filter ignores other values."""

    field_class = _TrueOrFalseField
