"""Making people and keys, also by ``create_api_key``."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.accounts.models import ApiKey, User
from apps.accounts.operations import expire_api_key
from apps.accounts.selectors import find_user
from apps.accounts.services import create_api_key, create_user, revoke_api_key, rotate_api_key
from apps.common.models import AuditEntry
from apps.common.sealing import digest
from labelhub.core.errors import Forbidden, InvalidInput
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


def key_of(user: User, by: ApiKey | None = None, **fields: Any) -> ApiKey:
    """A new key, as stored."""
    return create_api_key(user=user, name="x", by=by, **fields).key


def test_a_revoked_key_takes_along_all_that_came_of_it() -> None:
    """Also what a key made that expired, or was replaced without grace."""
    owner = UserFactory.create()
    stolen = key_of(owner)
    expired, replaced = key_of(owner, stolen), key_of(owner, stolen)
    key_of(owner, expired)
    key_of(owner, replaced)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    rotate_api_key(key=replaced, grace=timedelta(0))
    revoke_api_key(key=stolen)
    assert not ApiKey.objects.filter(revoked_at=None).exists()
    assert AuditEntry.objects.filter(action="key.revoked").count() == ApiKey.objects.count()


def test_what_a_key_made_ends_with_the_key_that_replaced_it() -> None:
    owner = UserFactory.create()
    old = key_of(owner)
    child = key_of(owner, old)
    revoke_api_key(key=rotate_api_key(key=old, grace=timedelta(days=1)).key)
    child.refresh_from_db()
    assert child.revoked_at is not None


def test_what_a_key_made_ends_no_later_than_it() -> None:
    owner = UserFactory.create()
    now = timezone.now()
    week, sooner = now + timedelta(days=7), now + timedelta(days=1)
    key = key_of(owner)
    child = key_of(owner, key)
    family = [key, child, key_of(owner, child), key_of(owner, child, expires_at=sooner)]
    assert expire_api_key(key, week)
    for member in family:
        member.refresh_from_db()
    assert [member.expires_at for member in family] == [week, week, week, sooner]
    assert AuditEntry.objects.filter(action="key.changed").count() == 3
    assert not expire_api_key(key, week)


def test_a_key_that_ended_meanwhile_makes_and_ends_no_other() -> None:
    """As when it is revoked between the check of the request and its work."""
    owner = UserFactory.create()
    by = key_of(owner)
    child, other = key_of(owner, by), key_of(owner)
    stale = ApiKey.objects.get(pk=by.pk)
    revoke_api_key(key=by)
    revoke_api_key(key=by)
    with pytest.raises(Forbidden):
        key_of(owner, stale)
    with pytest.raises(Forbidden):
        revoke_api_key(key=other, by=stale)
    assert set(ApiKey.objects.filter(revoked_at=None)) == {other}
    about = [f"{key.prefix}…" for key in (by, child)]
    entries = AuditEntry.objects.filter(action="key.revoked")
    assert list(entries.order_by("pk").values_list("subject_name", flat=True)) == about
    expired = key_of(owner)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    with pytest.raises(Forbidden):
        key_of(owner, expired)
