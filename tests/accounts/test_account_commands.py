"""create_api_key; create_user is tested with the projects it can name."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import ApiKey
from apps.accounts.services import key_digest
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db


def run(*args: str) -> str:
    out = StringIO()
    call_command("create_api_key", *args, stdout=out)
    return out.getvalue()


def test_the_key_stands_alone_on_the_last_line() -> None:
    UserFactory.create(username="ada")
    plain = run("ada").splitlines()[-1]
    assert ApiKey.objects.get(digest=key_digest(plain)).scope == "write"


def test_an_unknown_person_is_named() -> None:
    with pytest.raises(CommandError, match="no user 'eve'"):
        run("eve")
