"""People and their keys."""

import time
from http import HTTPStatus
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Model
from django.test import Client
from factory.declarations import LazyAttribute, Sequence, SubFactory
from factory.django import DjangoModelFactory, Password
from rest_framework.test import APIClient

from apps.accounts.models import ApiKey, User
from apps.common.sealing import digest

PASSWORD = "correct-horse-7"


class UserFactory(DjangoModelFactory[User]):
    """A person who can sign in with :data:`PASSWORD`."""

    username = Sequence(lambda n: f"person{n}")
    email = LazyAttribute(lambda user: f"{user.username}@example.org")
    password = Password(PASSWORD)

    class Meta:
        model = User


def browser_of(user: User) -> Client:
    """A browser in which ``user`` is signed in, and has just entered the password again."""
    client = Client()
    client.force_login(user)
    session = client.session
    session["account_authentication_methods_user"] = str(user.pk)
    session["account_authentication_methods"] = [
        {"method": "password", "at": time.time() + 9999, "reauthenticated": True}
    ]
    session.save()
    return client


def api_of(user: User) -> APIClient:
    """REST as ``user``."""
    client = APIClient()
    client.force_authenticate(user)
    return client


def act_in_console(browser: Client, row: Model, action: str, **fields: str) -> Any:
    """Press a button of the console's page of ``row``, and confirm what it asks."""
    url = f"/admin/{row._meta.app_label}/{row._meta.model_name}/"
    pressed = {"action": action, "_selected_action": str(row.pk), "from_row": "yes", **fields}
    asked = browser.post(url, pressed)
    if asked.status_code != HTTPStatus.OK:
        return asked
    stamps = {f"seen-{row.pk}": stamp for row, stamp in asked.context["rows"]}
    return browser.post(url, pressed | stamps | {"sure": "yes"})


def allow_accounts(user: User) -> User:
    """``user``, who from now on may make accounts, as an operator allows it in the console."""
    user.user_permissions.add(Permission.objects.get(codename="add_user"))
    return user


class ApiKeyFactory(DjangoModelFactory[ApiKey]):
    """A key; pass ``plain`` to know it."""

    class Params:
        plain = Sequence(lambda n: f"lh_{n:043d}")

    user = SubFactory(UserFactory)
    name = "test"
    prefix = LazyAttribute(lambda key: key.plain[:9])
    digest = LazyAttribute(lambda key: digest(key.plain))

    class Meta:
        model = ApiKey
