"""Forms of new sites and of what managers do with authors."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django import forms

from apps.authors.forms.fields import (
    ORIGINS_HELP,
    LanguagesForm,
    LinesField,
    library_choices,
    picked_features,
)
from apps.authors.models import Site
from labelhub.core.interview.features import Feature, starter_library

PICK = "pick"
_SETS = {
    "shopping": "What people who look for something to buy have in mind: how they feel, how "
    "urgent it is, when and for whom they buy, what matters most.",
    "emotion": "What people feel while they write: the main emotion, how strong, where it comes "
    "from, which reply they hope for.",
}


class SetCard(NamedTuple):
    """A set of the starter library to choose; ``features`` is empty for "pick"."""

    key: str
    title: str
    words: str
    features: tuple[Feature, ...]


class SiteForm(LanguagesForm):
    """What a new site needs; everything else has a default and is under its settings."""

    name = forms.CharField(
        max_length=100, help_text="Authors see it where they are asked for consent."
    )
    allowed_origins = LinesField(
        label="Pages that may embed it", required=False, help_text=ORIGINS_HELP
    )
    allow_here = forms.BooleanField(
        label="Also pages of this server, for the preview", required=False, initial=True
    )
    questions = forms.ChoiceField(
        label="What do you want to learn from authors?",
        choices=[*((key, key) for key in starter_library()), (PICK, PICK)],
        initial="shopping",
    )
    picked = forms.MultipleChoiceField(label="Features", choices=library_choices, required=False)
    identity = forms.ChoiceField(
        label="Who is asked?",
        choices=Site.Identity.choices,
        initial=Site.Identity.ANONYMOUS,
        widget=forms.RadioSelect,
        help_text="Rewards need people whom the host has signed in.",
    )
    consent_by = forms.ChoiceField(
        label="Who asks for consent?",
        choices=Site.ConsentBy.choices,
        initial=Site.ConsentBy.WIDGET,
        widget=forms.RadioSelect,
        help_text="Nothing is stored or sent before. Choose the host only if its own consent "
        "names this purpose.",
    )
    field_order = ["name", "allowed_origins", "allow_here", "questions", "picked", "language"]

    def clean(self) -> dict[str, Any]:
        """Picking features takes at least one."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("questions") == PICK and not cleaned.get("picked"):
            self.add_error("picked", "Tick at least one feature.")
        return cleaned

    def features(self) -> list[Feature]:
        """What the site is to ask about."""
        chosen = self.cleaned_data["questions"]
        if chosen == PICK:
            return picked_features(self.cleaned_data["picked"])
        return list(starter_library()[chosen])

    def set_cards(self) -> Iterator[SetCard]:
        """The sets to choose from, and picking oneself."""
        for key, features in starter_library().items():
            yield SetCard(key, key.capitalize(), _SETS.get(key, ""), tuple(features))
        yield SetCard(
            PICK, "Pick single ones", "Tick what you need; you can write your own later.", ()
        )

    def chosen_set(self) -> str:
        """The set that is ticked now."""
        return str(self["questions"].value())


class ConsoleForm(forms.Form):
    """A message to try the stages on."""

    text = forms.CharField(
        label="A message, as an author would write it",
        max_length=8000,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4}),
    )


class RulingForm(forms.Form):
    """A manager's decision over the signals."""

    trusted = forms.TypedChoiceField(
        choices=[("no", "Exclude"), ("yes", "Include"), ("", "Leave it to the signals")],
        coerce=lambda given: given == "yes",
        empty_value=None,
        required=False,
    )
    reason = forms.CharField(
        max_length=300, required=False, help_text="Kept with each answer that it excludes."
    )

    def clean(self) -> dict[str, Any]:
        """Excluding somebody takes a reason."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("trusted") is False and not cleaned.get("reason"):
            self.add_error("reason", "Say why: it is kept with their answers.")
        return cleaned


class TypedForm(forms.Form):
    """What cannot be undone takes typed words."""

    typed = forms.CharField()

    def __init__(self, *args: Any, words: str, label: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.words = words
        self.fields["typed"].label = label

    def clean_typed(self) -> str:
        """Exactly the words."""
        typed: str = self.cleaned_data["typed"].strip()
        if typed != self.words:
            raise forms.ValidationError(f"That is not “{self.words}”.")
        return typed
