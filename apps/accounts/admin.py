"""Users and API keys in the operator's console."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldBooleanSwitchWidget

from apps.accounts import operations
from apps.accounts.models import ApiKey, User
from apps.accounts.services import change_user, create_user, revoke_api_key
from apps.accounts.sessions import end_sessions
from apps.common.console import (
    OperatorAdmin,
    Words,
    badge,
    condition_filter,
    operator_action,
    seen_stamp,
)
from apps.common.forms import show_refusal
from apps.common.shown_once import keep_secret, take_secret
from labelhub.core.errors import Conflict, LabelhubError

SECRET = "console_password"  # noqa: S105 - the name of a place
#: Days before the end of a key from which on operators are told, and its last days.
SOON, GRACE = timedelta(days=14), timedelta(days=7)


class AccountForm(forms.ModelForm[User]):
    """An account; a service checks, saves and records it, and its refusals are shown here."""

    makes_accounts = forms.BooleanField(
        required=False,
        label=_("May create accounts"),
        help_text=_("For the projects that they manage."),
        widget=UnfoldBooleanSwitchWidget,
    )
    actor: User
    #: Writes the account from what was filled in.
    store: Callable[[dict[str, Any]], None]

    class Meta:
        model = User
        fields: tuple[str, ...] = ("username", "email", "is_superuser")
        labels = {"is_superuser": _("Operator"), "email": _("E-mail address")}
        help_texts = {
            "is_superuser": _(
                "Operators see all projects and this console, and may do everything. All others "
                "have a role in each project, which its managers give on the page People."
            )
        }

    def _post_clean(self) -> None:
        if not self.errors:
            try:
                self.store(dict(self.cleaned_data))
            except LabelhubError as error:
                show_refusal(self, error)


class PersonForm(AccountForm):
    #: What must still be as the page showed it: an old page gives nobody rights that they lost.
    SEEN = ("is_superuser",)

    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    class Meta(AccountForm.Meta):
        fields = ("first_name", "last_name", "email", "is_superuser")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            allowed = self.instance.user_permissions.filter(codename="add_user").exists()
            self.initial["makes_accounts"] = allowed
            self.initial["seen"] = seen_stamp(self.instance, self.SEEN)

    def store(self, fields: dict[str, Any]) -> None:
        allowed, seen = fields.pop("makes_accounts"), fields.pop("seen")
        stored = User.objects.select_for_update().get(pk=self.instance.pk)
        if not constant_time_compare(seen, seen_stamp(stored, self.SEEN)):
            raise Conflict(
                "Somebody has changed meanwhile whether they are an operator: load this page again."
            )
        self.instance = change_user(user=self.instance, actor=self.actor, **fields)
        operations.let_create_accounts(self.instance, allowed=allowed)


class NewPersonForm(AccountForm):
    """With a password for the first sign-in."""

    password = ""

    def store(self, fields: dict[str, Any]) -> None:
        superuser = fields.pop("is_superuser")
        self.instance, self.password = create_user(superuser=superuser, **fields)


def _locked_out() -> dict[str, tuple[Words, Q]]:
    return {"yes": (_("Locked out"), Q(pk__in=operations.locked_out()))}


@admin.register(User)
class PersonAdmin(OperatorAdmin):
    """Users: who they are, what they may do, and help for those who cannot sign in."""

    title = _("Users")
    asks_again = True
    form = PersonForm
    list_display = [
        "username", "email", "full_name", "role", "is_active", "last_login", "date_joined",
    ]  # fmt: skip
    list_filter = [
        "is_active",
        "is_superuser",
        "must_change_password",
        condition_filter(_("sign-in"), "locked", _locked_out),
    ]
    search_fields = ["username", "email", "first_name", "last_name"]
    ordering = ["username"]
    readonly_fields = ["username", "is_active", "must_change_password", "last_login", "date_joined"]
    fieldsets = [
        (_("Person"), {"fields": ["username", "first_name", "last_name", "email"]}),
        (_("Rights"), {"fields": ["is_superuser", "makes_accounts", "seen"]}),
        (
            _("Sign-in"),
            {"fields": ["is_active", "must_change_password", "last_login", "date_joined"]},
        ),
    ]
    actions = [
        "end_sessions", "send_link", "give_password", "unlock", "reset_two_step", "disconnect",
        "deactivate", "activate",
    ]  # fmt: skip

    @admin.display(description=_("Name"))
    def full_name(self, user: User) -> str:
        return user.get_full_name()

    @admin.display(description=_("Role"), ordering="is_superuser")
    def role(self, user: User) -> SafeString:
        return badge(_("Operator"), "info") if user.is_superuser else badge(_("User"))

    def has_add_permission(self, request: HttpRequest, _obj: Any = None) -> bool:
        return self.has_operate_permission(request)

    has_change_permission = has_add_permission

    def get_fieldsets(self, _request: HttpRequest, obj: User | None = None) -> Any:
        new = ["username", "email", "is_superuser", "makes_accounts"]
        return self.fieldsets if obj else [(None, {"fields": new})]

    def get_readonly_fields(self, _request: HttpRequest, obj: User | None = None) -> list[str]:
        return self.readonly_fields if obj else []

    def get_form(
        self, request: HttpRequest, obj: User | None = None, change: bool = False, **kwargs: Any  # noqa: FBT001, FBT002 - as Django calls it
    ) -> Any:  # fmt: skip
        kwargs["form"] = PersonForm if obj else NewPersonForm
        form = super().get_form(request, obj, change, **kwargs)
        form.actor = cast(User, request.user)
        return form

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001 - as Django calls it
        """The form has saved it."""
        if not change:
            keep_secret(request, f"{SECRET}-{obj.pk}", form.password)

    def response_add(self, _request: HttpRequest, obj: User, *_: Any) -> HttpResponse:
        return redirect("admin:accounts_user_change", obj.pk)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Their page; once also the password that an operator has made."""
        secret = take_secret(request, f"{SECRET}-{object_id}") if request.method == "GET" else ""
        context = {"secret": secret, **(extra_context or {})}
        answer: HttpResponse = super().change_view(request, object_id, form_url, context)
        return answer

    @operator_action(
        _("End all sessions"),
        question=_(
            "They are signed out everywhere, at once. What they typed and not sent is lost."
        ),
        seen=["session_epoch"],
    )
    def end_sessions(self, _request: HttpRequest, user: User) -> bool:
        end_sessions(user)
        return True

    @operator_action(
        _("Deactivate"),
        question=_(
            "They can no longer sign in, their sessions end and their API keys stop. What they did "
            "stays."
        ),
        seen=["is_active"],
    )
    def deactivate(self, request: HttpRequest, user: User) -> bool:
        return _set_active(request, user, active=False)

    @operator_action(_("Activate"))
    def activate(self, request: HttpRequest, user: User) -> bool:
        return _set_active(request, user, active=True)

    @operator_action(_("Unlock after wrong passwords"))
    def unlock(self, request: HttpRequest, user: User) -> bool:
        return operations.unlock(user, request)

    @operator_action(_("Send a link for a new password"), waits=True)
    def send_link(self, request: HttpRequest, user: User) -> str:
        operations.send_password_link(user, request)
        return gettext("The link is on its way.")

    @operator_action(
        _("Give a one-time password"),
        question=_(
            "Their password stops working and their sessions end. The new password is shown to you "
            "once; with it they must choose another."
        ),
        seen=["password"],
        single=True,
    )
    def give_password(self, request: HttpRequest, user: User) -> bool:
        keep_secret(request, f"{SECRET}-{user.pk}", operations.set_one_time_password(user))
        return True

    @operator_action(
        _("Reset two-step verification"),
        question=_(
            "Their authenticator apps, passkeys and recovery codes stop working. Make sure that "
            "you speak to the person themselves."
        ),
    )
    def reset_two_step(self, _request: HttpRequest, user: User) -> bool:
        """For a lost phone. Signals of the rows record it."""
        return bool(Authenticator.objects.filter(user=user).delete()[0])

    @operator_action(
        _("Disconnect from the company's sign-in"),
        question=_("Their account is no longer connected with the one at the company's provider."),
    )
    def disconnect(self, _request: HttpRequest, user: User) -> bool:
        """For an account that was connected with the wrong person."""
        return operations.disconnect_provider(user)


def _set_active(request: HttpRequest, user: User, *, active: bool) -> bool:
    if user.is_active == active:
        return False
    change_user(user=user, actor=cast(User, request.user), is_active=active)
    return True


def _key_states() -> dict[str, tuple[Words, Q]]:
    working = Q(pk__in=ApiKey.objects.active())
    return {
        "works": (_("Works"), working),
        "soon": (_("Ends within 14 days"), working & Q(expires_at__lte=timezone.now() + SOON)),
        "unused": (_("Never used"), working & Q(last_used_at=None)),
        "ended": (_("Revoked or expired"), ~working),
    }


@admin.register(ApiKey)
class ApiKeyAdmin(OperatorAdmin):
    """Keys, to find and end them; people create them on their own page, or by command."""

    title = _("API keys")
    list_display = [
        "prefix", "name", "user", "scope", "project", "created_at", "last_used_at", "expires_at",
        "revoked_at",
    ]  # fmt: skip
    list_filter = [condition_filter(_("state"), "state", _key_states), "scope"]
    search_fields = ["prefix", "name", "user__username", "user__email"]
    list_select_related = ["user", "project"]
    fields = [*list_display, "rotated_at"]
    actions = ["revoke", "expire"]
    empty_words = _("No key is like that. People create keys on their page “API keys”.")

    @operator_action(
        _("Revoke"), question=_("Programs with these keys are refused at once, for good.")
    )
    def revoke(self, _request: HttpRequest, key: ApiKey) -> bool:
        if key.revoked_at is not None:
            return False
        revoke_api_key(key=key)
        return True

    @operator_action(
        _("Let it expire in 7 days"),
        question=_("Programs with these keys are refused in a week. Their owners see the date."),
    )
    def expire(self, _request: HttpRequest, key: ApiKey) -> bool:
        return operations.expire_api_key(key, timezone.now() + GRACE)
