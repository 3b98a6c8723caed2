"""A user's own API keys; allauth has the pages to sign in and to change the password."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.models import ApiKey
from apps.accounts.selectors import get_key, keys_of
from apps.accounts.services import create_api_key, revoke_api_key
from apps.common.shown_once import keep_secret, take_secret


class ApiKeyForm(forms.Form):
    """A new key."""

    name = forms.CharField(max_length=100, help_text=_("Where you use it, to recognise it later."))
    scope = forms.ChoiceField(
        label=_("Scope"),
        choices=[(ApiKey.Scope.READ, _("Read only")), (ApiKey.Scope.WRITE, _("Read and write"))],
        initial=ApiKey.Scope.READ,
        widget=forms.RadioSelect,
    )


KEY = "api_key"


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def api_keys(request: SignedInRequest) -> HttpResponse:
    """The user's keys, and a form to create one; the page after it shows the new key once."""
    form = ApiKeyForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        keep_secret(request, KEY, create_api_key(user=request.user, **form.cleaned_data).plain)
        return redirect("api_keys")
    context = {"form": form, "plain": take_secret(request, KEY), "keys": keys_of(request.user)}
    return render(request, "accounts/api_keys.html", context)


@login_required
@require_POST
def api_key_revoke(request: SignedInRequest, key_id: int) -> HttpResponse:
    """Revoke one of the user's keys."""
    key = revoke_api_key(key=get_key(request.user, key_id))
    messages.success(request, gettext("The key “%(name)s” no longer works.") % {"name": key.name})
    return redirect("api_keys")
