"""A user's own API keys; allauth has the pages to sign in and to change the password."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.models import ApiKey, User
from apps.accounts.selectors import get_key, keys_of
from apps.accounts.services import create_api_key, revoke_api_key, rotate_api_key
from apps.common.forms import show_refusal
from apps.common.shown_once import keep_secret, take_secret
from labelhub.core.errors import LabelhubError


class ApiKeyForm(forms.Form):
    """A new key."""

    name = forms.CharField(max_length=100, help_text=_("Where you use it, to recognise it later."))
    scope = forms.ChoiceField(
        label=_("Scope"),
        choices=ApiKey.Scope.choices,
        initial=ApiKey.Scope.READ,
        widget=forms.RadioSelect,
    )
    project_id = forms.TypedChoiceField(
        label=_("Project"),
        required=False,
        coerce=int,
        empty_value=None,
        help_text=_("The only project that it opens."),
    )
    days = forms.TypedChoiceField(
        label=_("Works for"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[
            ("", _("Until it is revoked")),
            (30, _("30 days")),
            (90, _("90 days")),
            (365, _("One year")),
        ],
    )

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data)
        fields: dict[str, Any] = self.fields
        members = user.memberships.select_related("project").order_by("project__name")
        projects = [(member.project_id, member.project.name) for member in members]
        fields["project_id"].choices = [("", _("All of yours")), *projects]
        if not user.is_superuser:
            fields["scope"].choices = ApiKey.Scope.choices[:-1]


KEY = "api_key"


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def api_keys(request: SignedInRequest) -> HttpResponse:
    """The user's keys, and a form to create one; the page after it shows the new key once."""
    form = ApiKeyForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        chosen = dict(form.cleaned_data)
        days = chosen.pop("days")
        expires_at = timezone.now() + timedelta(days=days) if days else None
        try:
            made = create_api_key(user=request.user, expires_at=expires_at, **chosen)
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            keep_secret(request, KEY, made.plain)
            return redirect("api_keys")
    context = {"form": form, "plain": take_secret(request, KEY), "keys": keys_of(request.user)}
    return render(request, "accounts/api_keys.html", context)


@login_required
@require_POST
def api_key_rotate(request: SignedInRequest, key_id: int) -> HttpResponse:
    """A new key in place of one of the user's, which works for another day."""
    made = rotate_api_key(key=get_key(request.user.api_keys.all(), key_id), grace=timedelta(days=1))
    keep_secret(request, KEY, made.plain)
    return redirect("api_keys")


@login_required
@require_POST
def api_key_revoke(request: SignedInRequest, key_id: int) -> HttpResponse:
    """Revoke one of the user's keys."""
    key = revoke_api_key(key=get_key(request.user.api_keys.all(), key_id))
    messages.success(request, gettext("The key “%(name)s” no longer works.") % {"name": key.name})
    return redirect("api_keys")
