"""What managers post about people's work."""

from datetime import datetime, time

from django import forms
from django.utils import timezone

from apps.reviews.services.standing import LONGEST_REASON


class ReasonForm(forms.Form):
    """Why somebody is paused or let go on."""

    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="They read it, and it stays in the log.",
    )


class WhichLabelsForm(forms.Form):
    """Which labels go back."""

    since = forms.DateField(
        required=False,
        label="Given on or after",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Empty: from the beginning.",
    )
    only_wrong = forms.BooleanField(
        required=False,
        label="Only labels that others contradict",
        help_text="What was decided is something else, or somebody else says otherwise.",
    )

    def clean_since(self) -> datetime | None:
        """The beginning of that day."""
        day = self.cleaned_data["since"]
        return timezone.make_aware(datetime.combine(day, time())) if day else None


class RequeueForm(WhichLabelsForm):
    """The same, with the reason."""

    reason = ReasonForm.base_fields["reason"]
