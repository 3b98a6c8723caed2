"""Form fields of what a site keeps as lists, shares and amounts."""

from decimal import Decimal
from typing import Any

from django import forms

from apps.authors.translations import LANGUAGES
from labelhub.core.interview.features import Feature, starter_library

NANO = Decimal(1_000_000_000)
ORIGINS_HELP = (
    "Scheme and host of each page that may embed the widget, one a line, such as "
    "https://shop.example.org. Others are refused."
)


class LinesField(forms.CharField):
    """A list, one entry a line."""

    def __init__(self, *, rows: int = 3, commas: bool = False, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        super().__init__(widget=widget, **kwargs)
        self.commas = commas

    def prepare_value(self, value: Any) -> Any:
        """A list as lines; what was typed stays as it is."""
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> Any:
        """The lines that are not empty."""
        text: str = super().clean(value)
        parts = text.replace(",", "\n").splitlines() if self.commas else text.splitlines()
        return [part.strip() for part in parts if part.strip()]


class PercentField(forms.DecimalField):
    """A share, typed as per cent."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_value=100, decimal_places=2, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """A share as per cent; what was typed stays as it is."""
        return f"{value * 100:g}" if isinstance(value, float) else value

    def clean(self, value: Any) -> Any:
        """The share, from 0 to 1."""
        return float(super().clean(value)) / 100


class DollarsField(forms.DecimalField):
    """Nano-USD, typed as USD; empty for none."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=0, max_digits=15, decimal_places=6, required=False, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Nano-USD as USD; what was typed stays as it is."""
        return f"{Decimal(value) / NANO:f}" if isinstance(value, int) else value

    def clean(self, value: Any) -> Any:
        """Nano-USD, or None."""
        dollars = super().clean(value)
        return None if dollars is None else int(dollars * NANO)


def language_field() -> forms.ChoiceField:
    """The language a site falls back to."""
    return forms.ChoiceField(
        label="Default language",
        choices=list(LANGUAGES.items()),
        help_text="Asked in where the author's language is not known or not offered.",
    )


def more_languages_field() -> forms.MultipleChoiceField:
    """The others."""
    return forms.MultipleChoiceField(
        label="Also asked in",
        choices=list(LANGUAGES.items()),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="A question is asked in the language of the message, if it is among these.",
    )


def library_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """The starter library for a field of checkboxes: set → ("set/key", name)."""
    return [
        (each.capitalize(), [(f"{each}/{feature.key}", feature.name) for feature in features])
        for each, features in starter_library().items()
    ]


def picked_features(picked: list[str]) -> list[Feature]:
    """The features of the library that were ticked, in the library's order."""
    wanted = set(picked)
    return [
        feature
        for each, features in starter_library().items()
        for feature in features
        if f"{each}/{feature.key}" in wanted
    ]


class LanguagesForm(forms.Form):
    """Default language and others, which make one list."""

    language = language_field()
    more_languages = more_languages_field()

    def languages(self) -> list[str]:
        """The default first, the others in their usual order."""
        first, more = self.cleaned_data["language"], self.cleaned_data["more_languages"]
        return [first, *(each for each in LANGUAGES if each in more and each != first)]
