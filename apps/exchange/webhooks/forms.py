"""Forms of webhooks."""

from typing import Any

from django import forms

from apps.exchange.webhooks.events import EVENTS


class WebhookForm(forms.Form):
    """Where messages go, and which."""

    url = forms.CharField(
        label="Address",
        max_length=2000,
        widget=forms.URLInput(attrs={"placeholder": "https://…", "spellcheck": "false"}),
        help_text="Each event is posted to it as JSON, signed.",
    )
    description = forms.CharField(
        required=False, max_length=200, help_text="For you: what receives it."
    )
    events = forms.MultipleChoiceField(
        choices=[(name, f"{name}: {words}") for name, words in EVENTS.items()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )
    with_text = forms.BooleanField(
        label="Send the texts of items too",
        required=False,
        help_text="Never those that authors wrote. Without it, messages have ids and links.",
    )


class ReplayForm(forms.Form):
    """From when on everything is sent again."""

    since = forms.DateTimeField(
        label="Since (UTC)",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="By the times that labels and decisions have; imported ones bring their own.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes what a browser's field sends."""
        super().__init__(*args, **kwargs)
        self.fields["since"].input_formats = [  # type: ignore[attr-defined]
            "%Y-%m-%dT%H:%M",
            "%Y-%m-%dT%H:%M:%S",
            "%Y-%m-%d %H:%M",
            "%Y-%m-%d",
        ]
