"""What operators look up of sites and authors: every list, searched, in as many queries."""

from typing import Any

import pytest
from django.test import Client

from apps.authors.models import Erasure, Event, Message, Payout, Site
from tests.factories.accounts import UserFactory
from tests.factories.authors import asked, author_of, site_with_features

pytestmark = pytest.mark.django_db
PAGES = ["site", "author", "message", "question", "answer", "reward", "payout", "event", "erasure"]


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory.create(is_staff=True, is_superuser=True))
    return client


def fill(count: int) -> None:
    """Rows for the lists, each on a site of its own."""
    for _ in range(count):
        site: Site = site_with_features(keep_text="sealed")
        author = author_of(site, "customer")
        asked(author)
        Payout.objects.create(site=site, cents=1, rewards=1)
        Event.objects.create(site=site, author=author, kind=Event.Kind.EARLY)
        Erasure.objects.create(site=site, removed={"messages": 1})


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
def test_a_list_takes_the_same_queries_for_few_and_many_rows(
    operator: Client, django_assert_num_queries: Any, page: str
) -> None:
    url = f"/admin/authors/{page}/"
    fill(2)
    with django_assert_num_queries(9, exact=False) as few:
        assert operator.get(url).status_code == 200
    fill(3)
    with django_assert_num_queries(len(few)):
        operator.get(url)


def test_messages_can_be_read_as_kept_and_not_changed(operator: Client) -> None:
    fill(1)
    message = Message.objects.get()
    url = f"/admin/authors/message/{message.pk}/change/"
    shown = operator.get(url).content.decode()
    assert message.text in shown
    assert "sealed" not in shown.lower()
    assert operator.post(url, {"text": "other"}).status_code == 403


def test_secrets_are_in_no_list(operator: Client) -> None:
    assert operator.get("/admin/authors/sitekey/").status_code == 404
