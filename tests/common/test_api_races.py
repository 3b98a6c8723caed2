"""Two requests at the same instant: exactly one has an effect."""

from datetime import timedelta
from typing import Any

import pytest

from apps.accounts.models import ApiKey, User
from apps.accounts.roles import Role
from apps.accounts.services import create_api_key, rotate_api_key
from apps.projects.models import Item, ItemChange, Project
from labelhub.core.errors import Conflict
from tests.factories.accounts import UserFactory, api_of
from tests.factories.labels import open_item
from tests.factories.projects import ProjectFactory, member
from tests.threads import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(170)]


@pytest.fixture
def project() -> Project:
    return ProjectFactory.create()


@pytest.fixture
def manager(project: Project) -> User:
    return member(project, Role.MANAGER)


def send(caller: User, method: str, url: str, body: Any, **headers: str) -> int:
    client = api_of(caller)
    client.raise_request_exception = False
    return int(getattr(client, method)(url, body, headers=headers).status_code)


def test_of_patches_with_one_etag_one_is_made(project: Project, manager: User) -> None:
    item = open_item(project)
    for url, field in (("", "description"), (f"items/{item.pk}/", "meta")):
        address = f"/api/v1/projects/{project.slug}/{url}"
        tag = api_of(manager).get(address)["ETag"]

        def patch(number: int, address: str = address, field: str = field, tag: str = tag) -> int:
            value: Any = {"by": number} if field == "meta" else f"by {number}"
            return send(manager, "patch", address, {field: value}, **{"If-Match": tag})

        assert sorted(at_once(patch)) == [200, 412, 412, 412]
    assert ItemChange.objects.count() == 1


def test_of_a_patch_and_a_delete_with_one_etag_one_is_made(project: Project, manager: User) -> None:
    item = open_item(project)
    address = f"/api/v1/projects/{project.slug}/items/{item.pk}/"
    tag = api_of(manager).get(address)["ETag"]

    def work(number: int) -> int:
        method = "delete" if number % 2 else "patch"
        return send(manager, method, address, {"meta": {"a": number}}, **{"If-Match": tag})

    found = sorted(at_once(work))
    assert found in ([200, 412, 412, 412], [204, 404, 404, 404])
    assert ItemChange.objects.count() == 1
    assert Item.objects.count() == (1 if found[0] == 200 else 0)


def test_of_requests_with_one_idempotency_key_one_is_done() -> None:
    caller = UserFactory.create()

    def post(_number: int) -> int:
        key = {"Idempotency-Key": "at-once"}
        return send(caller, "post", "/api/v1/keys/", {"name": "a"}, **key)

    found = at_once(post)
    assert 201 in found
    assert set(found) <= {201, 409}  # the first answer again, or the first is still being done
    assert ApiKey.objects.count() == 1
    assert post(0) == 201
    assert ApiKey.objects.count() == 1


def test_of_rotations_at_once_one_makes_a_key_and_the_old_one_ends() -> None:
    key = create_api_key(user=UserFactory.create(), name="a").key

    def rotate(_: int) -> bool:
        try:
            rotate_api_key(key=key, grace=timedelta(hours=1))
        except Conflict:
            return False
        return True

    assert sorted(at_once(rotate)) == [False, False, False, True]
    key.refresh_from_db()
    assert key.expires_at is not None
    assert ApiKey.objects.count() == 2
