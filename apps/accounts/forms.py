"""Forms about people and keys."""

from django import forms

from apps.accounts.models import ApiKey


class ApiKeyForm(forms.Form):
    """A new key."""

    name = forms.CharField(max_length=100, help_text="Where you use it, to recognise it later.")
    scope = forms.ChoiceField(
        label="Scope",
        choices=[(ApiKey.Scope.READ, "Read only"), (ApiKey.Scope.WRITE, "Read and write")],
        initial=ApiKey.Scope.READ,
        widget=forms.RadioSelect,
    )
