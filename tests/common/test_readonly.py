"""Tables that the console shows, and in which nothing can be changed."""

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client

from apps.common.readonly import ReadOnlyAdmin
from apps.debates.models import Debate, Run, Turn
from apps.reviews.models import Decision, Slot
from tests.factories.accounts import UserFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("table", [Run, Debate, Turn, Slot, Decision])
def test_what_runs_and_reviewers_did_is_looked_up_only(table: type[Model], client: Client) -> None:
    client.force_login(UserFactory.create(is_superuser=True, is_staff=True))
    address = f"/admin/{table._meta.app_label}/{table._meta.model_name}/"

    assert isinstance(admin.site.get_model_admin(table), ReadOnlyAdmin)
    page = client.get(address)
    assert page.status_code == 200
    assert b"delete_selected" not in page.content
    assert client.get(f"{address}add/").status_code == 403
