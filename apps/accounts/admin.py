"""Users and API keys in the operator's console."""

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from apps.accounts.models import ApiKey, DirectoryGroup, User
from apps.accounts.services import revoke_api_key
from apps.accounts.sessions import end_sessions
from apps.common.audit import Action, record
from apps.common.readonly import ReadOnlyAdmin, RecordedAdmin

# Settings name the providers, no tokens are kept, and sessions are ended with their person.
admin.site.unregister([Authenticator, SocialAccount, SocialApp, SocialToken, UserSession])


@admin.register(User)
class PersonAdmin(UserAdmin, RecordedAdmin):  # type: ignore[type-arg]  # generic only in the stubs
    """Users. Two permissions count outside the console too: "add user" allows a manager to create
    accounts, "change slot" allows to end leases."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    add_fieldsets = UserAdmin.add_fieldsets  # the theme's own are empty
    list_display = ["username", "email", "first_name", "last_name", "is_active", "is_superuser"]
    list_filter = ["is_active", "is_superuser"]
    search_fields = ["username", "email", "first_name", "last_name"]
    filter_horizontal = ()  # wider than a page
    readonly_fields = ["last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["username", "password", "must_change_password"]}),
        ("Person", {"fields": ["first_name", "last_name", "email"]}),
        ("May", {"fields": ["is_active", "is_staff", "is_superuser", "user_permissions"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]

    actions = ["end_sessions"]

    @admin.action(description="End all sessions of the selected people", permissions=["change"])
    def end_sessions(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """Sign them out everywhere, at once."""
        for user in people:
            end_sessions(user)
        self.message_user(request, "They are signed out everywhere.")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001 - as Django calls it
        """A new person gets a password of their own at the first sign-in."""
        obj.must_change_password = obj.must_change_password or not change
        super().save_model(request, obj, form, change)
        if change and "is_active" in form.changed_data and not obj.is_active:
            end_sessions(obj)

    def user_change_password(
        self,
        request: HttpRequest,
        id: str,  # noqa: A002 - as Django calls it
        form_url: str = "",
    ) -> HttpResponse:
        """Another person's new password is to be changed again, by them."""
        with transaction.atomic():
            response = super().user_change_password(request, id, form_url)
            if response.status_code == 302:
                record(Action.PASSWORD_SET, User.objects.get(pk=id))
            if response.status_code == 302 and str(request.user.pk) != id:
                User.objects.filter(pk=id).update(must_change_password=True)
        return response


@admin.register(ApiKey)
class ApiKeyAdmin(RecordedAdmin):
    """Keys, to find and revoke them; create them on the user's own page or by command."""

    list_display = [
        "prefix", "name", "user", "scope", "project", "created_at", "expires_at", "last_used_at",
        "revoked_at",
    ]  # fmt: skip
    list_filter = ["scope", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["prefix", "name", "user__username", "user__email"]
    list_select_related = ["user", "project"]
    date_hierarchy = "created_at"
    actions = ["revoke"]
    readonly_fields = [
        "user", "name", "prefix", "scope", "project", "created_at", "expires_at", "last_used_at",
        "revoked_at",
    ]  # fmt: skip
    exclude = ["digest"]

    def has_add_permission(self, _request: HttpRequest) -> bool:
        """No: the console could not show the new key."""
        return False

    @admin.action(description="Revoke the selected keys", permissions=["change"])
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        """Revoke the keys."""
        for key in keys:
            revoke_api_key(key=key)
        self.message_user(request, "The keys no longer work.")


class _WayIn(ModelAdmin):
    """People set these up, or the provider says them; operators only delete them. Signals record
    that (``sign_ins``)."""

    list_select_related = ["user"]

    def has_add_permission(self, _request: HttpRequest) -> bool:
        """No."""
        return False

    def has_change_permission(self, _request: HttpRequest, _obj: object = None) -> bool:
        """No."""
        return False


@admin.register(Authenticator)
class AuthenticatorAdmin(_WayIn):
    """Second steps. Delete all of a person who lost theirs; they set up new ones."""

    list_display = ["user", "type", "created_at", "last_used_at"]
    list_filter = ["type"]
    search_fields = ["user__username", "user__email"]
    exclude = ["data"]  # keys, sealed


@admin.register(SocialAccount)
class IdentityAdmin(_WayIn):
    """Who is whom at the company's provider. Delete one to disconnect it."""

    list_display = ["user", "provider", "uid", "date_joined", "last_login"]
    search_fields = ["user__username", "user__email", "uid"]
    exclude = ["extra_data"]


@admin.register(DirectoryGroup)
class DirectoryGroupAdmin(ReadOnlyAdmin):
    """Groups that the provider has sent."""

    list_display = ["name", "external_id", "created_at"]
    search_fields = ["name", "external_id"]
