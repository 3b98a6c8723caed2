"""Spending by provider is what the calls cost that are stored."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import OperationalError
from django.db.models import Sum

from apps.debates.models import Run, Turn
from apps.debates.services import run_slice
from apps.llm import services
from apps.llm.gateway import Gateway
from apps.llm.models import DailyUse
from labelhub.core.errors import Conflict
from labelhub.core.llm.errors import ModelUnreachable
from tests.factories.debates import QUICK, project_with_items, started_run
from tests.factories.llm import ModelSpecFactory
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import make_call

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_is_the_sum_of_the_stored_calls_also_of_useless_ones(model_server: FakeServer) -> None:
    model_server.options.faults = {"unavailable": 0.1, "malformed": 0.2}
    model = ModelSpecFactory.create(
        provider__base_url=model_server.base_url, price_in=Decimal("0.123457")
    )
    run = started_run(project_with_items(10), "ecj", model=model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("apps.llm.retry.Patience.backoff", lambda *_: 0.0)
        run_slice(run.pk, pace=replace(QUICK, width=8))
    use = DailyUse.objects.get()
    run.refresh_from_db()
    stored = Turn.objects.aggregate(cost=Sum("cost_nanousd"))["cost"]
    assert stored > 0
    assert use.cost_nanousd == run.cost_nanousd == stored
    assert use.requests == sum(model_server.outcomes.values())
    assert use.errors > 0
    assert use.unpriced == 0


def test_use_that_cannot_be_stored_waits_for_the_next_time(
    model_server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)

    async def call() -> None:
        async with Gateway.open([model]) as gateway:
            await gateway.complete(model, make_call())

    def fail(*_: object) -> None:
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(services, "add_use", fail)
        asyncio.run(call())
    assert not DailyUse.objects.exists()
    asyncio.run(call())
    assert DailyUse.objects.get().requests == 2


def test_a_paused_provider_is_not_called_and_pauses_the_run(model_server: FakeServer) -> None:
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    run = started_run(project_with_items(2), model=model)
    assert services.pause_provider(model.provider, paused=True)
    assert not services.pause_provider(model.provider, paused=True)
    run_slice(run.pk, pace=QUICK)
    run.refresh_from_db()
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, ModelUnreachable.code)
    assert "operator has paused" in run.message
    assert not model_server.requests
    assert services.pause_provider(model.provider, paused=False)


def test_the_text_matcher_is_not_paused() -> None:
    with pytest.raises(Conflict):
        services.pause_provider(services.ensure_builtin().provider, paused=True)
