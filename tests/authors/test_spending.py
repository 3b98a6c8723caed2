"""What a site's models cost on a day, and the budget that ends it."""

import asyncio
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from apps.authors.models import Message, Site, SiteUse
from apps.authors.services.limits import budget_spent, count_cost
from apps.authors.services.privacy import erase_author
from apps.authors.services.questions import _reply
from apps.authors.services.taking_up import take_up
from apps.llm.models import ModelSpec
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.types import Call, Completion
from labelhub.core.schema import parse_schema
from tests.factories.authors import asked, author_of, message_of, site_with_features

pytestmark = pytest.mark.django_db


@pytest.fixture
def site() -> Site:
    return site_with_features(daily_budget_nanousd=1000)


def test_costs_of_a_day_add_up_to_one_row(site: Site) -> None:
    for cost in (400, 0, 599):
        count_cost(site.pk, cost)
    assert SiteUse.objects.get().cost_nanousd == 999
    assert not budget_spent(site)
    count_cost(site.pk, 1)
    assert budget_spent(site)


def test_every_day_begins_anew_and_every_site_has_its_own(site: Site) -> None:
    count_cost(site_with_features().pk, 5000)
    count_cost(site.pk, 5000)
    SiteUse.objects.filter(site=site).update(day=timezone.now().date() - timedelta(days=1))
    assert not budget_spent(site)


def test_a_site_without_a_budget_goes_on() -> None:
    site = site_with_features()
    count_cost(site.pk, 10**12)
    assert not budget_spent(site)


def test_a_site_that_is_gone_costs_nothing() -> None:
    count_cost(4711, 5000)
    assert not SiteUse.objects.exists()


@pytest.mark.thorough
def test_a_budget_that_is_spent_ends_the_asking(site: Site) -> None:
    count_cost(site.pk, 1000)
    assert take_up(message_of(author_of(site))) is None
    assert Message.objects.latest("pk").dropped_at == "budget"


@pytest.mark.parametrize(("usage", "cost"), [({}, 0), ({"tokens_in": 400, "tokens_out": 100}, 600)])
def test_a_call_that_fails_counts_with_what_was_paid_for_it(
    usage: dict[str, Any], cost: int
) -> None:
    class Failing:
        async def complete(self, spec: ModelSpec, call: Call) -> Completion:
            raise ModelError("No answer of use.", data={"usage": usage} if usage else {})

    spec = ModelSpec(price_in=Decimal(1), price_out=Decimal(2))
    schema = parse_schema({"task": "text", "question": "What is it?"})
    call = Call("word", "word", (), "", schema, "A lamp.")
    spent: list[int] = []
    assert not asyncio.run(_reply(spec, call, Failing(), spent)).ok
    assert spent == [cost * 1000]


def test_deleting_an_author_gives_nothing_back(site: Site) -> None:
    author = author_of(site, "customer-1")
    asked(author)
    erase_author(author)
    assert budget_spent(site)


def test_the_budget_is_one_row_however_much_was_written(
    site: Site, django_assert_num_queries: Any
) -> None:
    for number in range(5):
        asked(author_of(site), f"I need lamp number {number} for my desk by Friday, please.")
    assert SiteUse.objects.count() == 1
    with django_assert_num_queries(1):
        budget_spent(site)
