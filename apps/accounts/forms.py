"""Forms about people and keys."""

from django import forms

from apps.accounts.models import ApiKey


class ApiKeyForm(forms.Form):
    """A new key."""

    name = forms.CharField(
        max_length=100, help_text="Where it will be used, so that you know it again."
    )
    scope = forms.ChoiceField(
        label="It may",
        choices=[(ApiKey.Scope.READ, "Read only"), (ApiKey.Scope.WRITE, "Read and write")],
        initial=ApiKey.Scope.READ,
        widget=forms.RadioSelect,
    )
