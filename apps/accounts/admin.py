"""Users and API keys in the operator's console."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from apps.accounts.models import ApiKey, User
from apps.accounts.services import revoke_api_key
from apps.common.audit import Action, record
from apps.common.readonly import RecordedAdmin


@admin.register(User)
class PersonAdmin(RecordedAdmin, UserAdmin):  # type: ignore[type-arg]
    """Users. Two permissions count outside the console too: "add user" allows a manager to create
    accounts, "change slot" allows to end leases."""

    list_display = ["username", "email", "first_name", "last_name", "is_active", "is_superuser"]
    list_filter = ["is_active", "is_superuser"]
    search_fields = ["username", "email", "first_name", "last_name"]
    filter_horizontal = ["user_permissions"]
    readonly_fields = ["last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["username", "password", "must_change_password"]}),
        ("Person", {"fields": ["first_name", "last_name", "email"]}),
        ("May", {"fields": ["is_active", "is_staff", "is_superuser", "user_permissions"]}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001 - as Django calls it
        """A new person gets a password of their own at the first sign-in."""
        obj.must_change_password = obj.must_change_password or not change
        super().save_model(request, obj, form, change)

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

    list_display = ["prefix", "name", "user", "scope", "created_at", "last_used_at", "revoked_at"]
    list_filter = ["scope", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["prefix", "name", "user__username", "user__email"]
    list_select_related = ["user"]
    date_hierarchy = "created_at"
    actions = ["revoke"]
    readonly_fields = [
        "user", "name", "prefix", "scope", "created_at", "last_used_at", "revoked_at",
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
