"""Forms: a file, and which of its columns is which field."""

from collections.abc import Sequence
from typing import Any

from django import forms

from apps.exchange.readers import accepted
from apps.exchange.selectors import Preview

NONE = ""
WORDS = {
    "text": ("Text", "What is to be labelled."),
    "id": ("Id", "Recognises an item when a file is imported again; made from the text if absent."),
    "question": ("Question", "Asked of this item in particular."),
    "gold": ("Gold", "The decided value, where there is one."),
    "answer": ("Answer", "Which of the questions in this file is the one that the project asks."),
}


class UploadForm(forms.Form):
    """One file."""

    file = forms.FileField(
        label="File",
        widget=forms.ClearableFileInput(attrs={"accept": accepted()}),
        error_messages={"empty": "The file is empty."},
        max_length=500,
    )


class ColumnsForm(forms.Form):
    """Field → column of an uploaded file."""

    strict = forms.BooleanField(
        label="Import nothing if any row has a fault",
        required=False,
        help_text="Otherwise the good rows go in and the others are listed.",
    )

    def __init__(self, preview: Preview, *args: Any, **kwargs: Any) -> None:
        """``preview`` says which columns there are and what they seem to be."""
        super().__init__(*args, **kwargs)
        for name, (label, help_text) in WORDS.items():
            offered = preview.questions if name == "answer" else preview.choices
            if name == "answer" and not offered:
                continue
            required = name in ("text", "answer")
            self.fields[name] = forms.ChoiceField(
                label=label,
                help_text=help_text,
                required=required,
                choices=_choices(offered, required=required),
                initial=preview.guess.get(name, NONE),
            )
        self.order_fields([*WORDS, "strict"])

    def columns(self) -> dict[str, str]:
        """The choice; a field without a column is left out of the import."""
        return {name: self.cleaned_data[name] for name in WORDS if name in self.fields}


def _choices(columns: Sequence[str], *, required: bool) -> list[tuple[str, str]]:
    first = "Choose a column" if required else "None"
    return [(NONE, first), *((name, name) for name in columns)]
