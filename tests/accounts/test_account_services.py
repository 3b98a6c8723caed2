"""Making people and keys, also by ``create_api_key``."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import ApiKey, User
from apps.accounts.selectors import find_user
from apps.accounts.services import create_api_key, create_user
from apps.common.sealing import digest
from labelhub.core.errors import InvalidInput
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db


def test_a_new_person_can_sign_in_with_the_one_time_password() -> None:
    user, password = create_user(username="ada", email="Ada@Example.org")
    assert user.check_password(password)
    assert user.email == "ada@example.org"
    assert not user.is_superuser
    assert len(password) >= 16


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "taken"}, "username"),
        ({"username": "two words"}, "username"),
        ({"username": "x" * 200}, "username"),
        ({"username": "new", "email": "no-address"}, "email"),
        ({"username": "new", "email": "TAKEN@example.org"}, "email"),
        ({"username": "new", "password": "short"}, "password"),
    ],
)
def test_a_refusal_names_the_field(fields: dict[str, str], field: str) -> None:
    UserFactory.create(username="taken", email="taken@example.org")
    with pytest.raises(InvalidInput) as refused:
        create_user(**fields)  # type: ignore[arg-type]
    assert refused.value.data["errors"][0]["field"] == field
    assert field in str(refused.value)
    assert User.objects.count() == 1


def test_people_are_found_by_name_or_address() -> None:
    ada = UserFactory.create(username="ada", email="ada@example.org")
    assert find_user(" ada ") == ada
    assert find_user("ADA@example.org") == ada
    assert find_user("nobody") is None
    assert find_user("") is None


def test_a_key_needs_a_name_and_a_known_scope() -> None:
    user = UserFactory.create()
    with pytest.raises(InvalidInput, match="name"):
        create_api_key(user=user, name="  ")
    with pytest.raises(InvalidInput, match="scope"):
        create_api_key(user=user, name="x", scope="everything")
    assert not ApiKey.objects.exists()


def test_nobody_takes_another_persons_address_as_a_user_name() -> None:
    with pytest.raises(InvalidInput, match="username"):
        create_user(username="boss@example.org", email="eve@example.org")
    assert create_user(username="Me@example.org", email="me@example.org").user.pk


def test_an_address_means_whose_it_is() -> None:
    UserFactory.create(username="boss@example.org", email="eve@example.org")
    boss = UserFactory.create(username="boss", email="boss@example.org")
    assert find_user("boss@example.org") == boss


def run(*args: str) -> str:
    out = StringIO()
    call_command("create_api_key", *args, stdout=out)
    return out.getvalue()


def test_the_key_stands_alone_on_the_last_line() -> None:
    UserFactory.create(username="ada")
    plain = run("ada").splitlines()[-1]
    assert ApiKey.objects.get(digest=digest(plain)).scope == "write"


def test_an_unknown_person_is_named() -> None:
    with pytest.raises(CommandError, match="no user 'eve'"):
        run("eve")
