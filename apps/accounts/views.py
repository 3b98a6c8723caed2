"""The page to sign in, and a person's own pages: ways in, sessions, API keys."""

from datetime import timedelta
from typing import Any, cast

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.views import LoginView
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import sessions
from apps.accounts.http import SignedInRequest
from apps.accounts.models import ApiKey, User
from apps.accounts.providers import choices, must_set_up, must_use_provider
from apps.accounts.selectors import get_key, keys_of
from apps.accounts.services import create_api_key, revoke_api_key, rotate_api_key
from apps.common.forms import show_refusal
from apps.common.shown_once import keep_secret, take_secret
from labelhub.core.errors import LabelhubError

#: The new key, until it is shown.
KEY = "api_key"
#: allauth asks for password, second step or provider again, unless that was a moment ago.
confirmed = reauthentication_required(enabled=lambda request: request.method == "POST")


class SignInView(LoginView):
    """allauth's page, with the buttons of the company's providers."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Without the form where only the provider signs in; operators ask for it."""
        return {
            **super().get_context_data(**kwargs),
            "choices": choices(),
            "sso_only": settings.LABELHUB_SSO_ONLY,
            "by_password": not settings.LABELHUB_SSO_ONLY or "password" in self.request.GET,
        }


def second_step(request: HttpRequest, view: str, **kwargs: Any) -> HttpResponse:
    """One of allauth's views of the second step, which load the cryptography of passkeys: a fifth
    of a second that no start waits for."""
    from allauth.mfa.base import views as base  # noqa: PLC0415 - see above
    from allauth.mfa.recovery_codes import views as codes  # noqa: PLC0415
    from allauth.mfa.totp import views as totp  # noqa: PLC0415
    from allauth.mfa.webauthn import views as passkeys  # noqa: PLC0415

    views = {**vars(base), **vars(codes), **vars(totp), **vars(passkeys)}
    return cast(HttpResponse, views[view](request, **kwargs))


@login_required
@never_cache
@require_safe
def security(request: SignedInRequest) -> HttpResponse:
    """The ways in to the account, each with what can be done."""
    user = request.user
    steps = Authenticator.objects.filter(user=user).order_by("pk")
    of_type = {kind: [step for step in steps if step.type == kind] for kind in Authenticator.Type}
    known = {row.provider: row for row in SocialAccount.objects.filter(user=user)}
    context = {
        "totp": next(iter(of_type[Authenticator.Type.TOTP]), None),
        "passkeys": [(step, step.data["name"]) for step in of_type[Authenticator.Type.WEBAUTHN]],
        "recovery_codes": bool(of_type[Authenticator.Type.RECOVERY_CODES]),
        "providers": [(choice, known.get(choice.issuer)) for choice in choices()],
        "has_password": user.has_usable_password(),
        "managed": must_use_provider(user),
        "must_set_up": must_set_up(user, get_authentication_records(request, user)),
    }
    return render(request, "accounts/security.html", context)


@login_required
@never_cache
@require_safe
def session_list(request: SignedInRequest) -> HttpResponse:
    """Where the person is signed in."""
    rows = [(row, sessions.device(row.user_agent)) for row in sessions.open_sessions(request.user)]
    return render(request, "accounts/sessions.html", {"sessions": rows})


@login_required
@require_POST
def session_end(request: SignedInRequest, session_id: int) -> HttpResponse:
    """End one of the person's sessions."""
    sessions.end_session(request.user, session_id)
    messages.success(request, gettext("That session has ended."))
    return redirect("session_list")


@login_required
@require_POST
def sessions_end_others(request: SignedInRequest) -> HttpResponse:
    """End all of the person's sessions but this one."""
    sessions.end_sessions(request.user, keep=request)
    messages.success(request, gettext("You are signed in here only."))
    return redirect("session_list")


class ApiKeyForm(forms.ModelForm[ApiKey]):
    """A new key."""

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

    class Meta:
        model = ApiKey
        fields = ["name", "scope", "project"]
        widgets = {"scope": forms.RadioSelect}
        labels = {"scope": _("Scope"), "project": _("Project")}
        help_texts = {
            "name": _("Where you use it, to recognise it later."),
            "project": _("The only project that it opens."),
        }

    def __init__(self, user: User, data: Any = None) -> None:
        super().__init__(data, initial={"scope": ApiKey.Scope.READ})
        fields: dict[str, Any] = self.fields
        fields["scope"].choices = ApiKey.Scope.choices[: None if user.is_superuser else -1]
        project = fields["project"]
        project.empty_label = _("All of yours")
        project.label_from_instance = lambda row: row.name
        project.queryset = project.queryset.visible_to(user).order_by("name", "pk")


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@confirmed
def api_keys(request: SignedInRequest) -> HttpResponse:
    """The user's keys, and a form to create one; the page after it shows the new key once."""
    form = ApiKeyForm(request.user, request.POST if request.method == "POST" else None)
    if form.is_valid():
        chosen = form.cleaned_data
        days, project = chosen["days"], chosen["project"]
        try:
            made = create_api_key(
                user=request.user,
                name=chosen["name"],
                scope=chosen["scope"],
                expires_at=timezone.now() + timedelta(days=days) if days else None,
                project_id=project.pk if project else None,
            )
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            keep_secret(request, KEY, made.plain)
            return redirect("api_keys")
    context = {"form": form, "plain": take_secret(request, KEY), "keys": keys_of(request.user)}
    return render(request, "accounts/api_keys.html", context)


@login_required
@require_http_methods(["GET", "POST"])
@confirmed
def api_key_rotate(request: SignedInRequest, key_id: int) -> HttpResponse:
    """A new key in place of one of the user's, which works for another day. GET is for the address
    that the browser shows after the password was asked for."""
    if request.method == "POST":
        key = get_key(request.user.api_keys.all(), key_id)
        keep_secret(request, KEY, rotate_api_key(key=key, grace=timedelta(days=1)).plain)
    return redirect("api_keys")


@login_required
@require_POST
def api_key_revoke(request: SignedInRequest, key_id: int) -> HttpResponse:
    """Revoke one of the user's keys."""
    key = revoke_api_key(key=get_key(request.user.api_keys.all(), key_id))
    messages.success(request, gettext("The key “%(name)s” no longer works.") % {"name": key.name})
    return redirect("api_keys")
