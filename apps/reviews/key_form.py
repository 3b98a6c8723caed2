"""The form of somebody's keys: a field for each action."""

from typing import Any

from django import forms

from apps.reviews.keys import ACTIONS


class KeyForm(forms.Form):
    """One field for each action; empty: the house's keys. What fits is the service's to say."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for action in ACTIONS:
            self.fields[action.name] = forms.CharField(
                label=action.words,
                required=False,
                max_length=60,
                help_text=f"At first: {action.keys}",
                widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
            )
