"""Forms about people and keys."""

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import ApiKey


class ApiKeyForm(forms.Form):
    """A new key."""

    name = forms.CharField(max_length=100, help_text=_("Where you use it, to recognise it later."))
    scope = forms.ChoiceField(
        label=_("Scope"),
        choices=[(ApiKey.Scope.READ, _("Read only")), (ApiKey.Scope.WRITE, _("Read and write"))],
        initial=ApiKey.Scope.READ,
        widget=forms.RadioSelect,
    )
