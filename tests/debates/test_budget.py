"""Money: set aside before it is spent, never more than there is, whoever comes at once."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.debates.models import Run, Turn
from apps.debates.services import run_slice
from apps.debates.services.budget import Budget, BudgetReached
from apps.debates.services.closing import recount
from tests.factories.debates import QUICK, project_with_items, started_run
from tests.factories.llm import ModelSpecFactory
from tests.fakes.fast_endpoint import FastEndpoint

CALLS = st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1)), min_size=1, max_size=60)


@given(limit=st.integers(0, 400), calls=CALLS)
def test_spent_and_set_aside_together_never_pass_the_limit(
    limit: int, calls: list[tuple[int, float]]
) -> None:
    """Each call reserves its worst case, waits, and costs some share of it."""
    budget, spent, refused = Budget(limit), 0, 0

    async def call(worst: int, share: float) -> None:
        nonlocal spent, refused
        try:
            await budget.reserve(worst)
        except BudgetReached:
            refused += 1
            return
        assert budget._spent + budget._reserved <= limit
        await asyncio.sleep(0)
        cost = int(worst * share)
        spent += cost
        budget.settle(worst, cost)

    async def all_at_once() -> None:
        await asyncio.gather(*(call(worst, share) for worst, share in calls))

    asyncio.run(all_at_once())
    assert spent <= limit
    assert budget._reserved == 0
    assert (refused == 0) or limit < sum(worst for worst, _ in calls)


async def test_whoever_waits_is_served_in_order() -> None:
    budget, served = Budget(100), []

    async def call(name: str, worst: int) -> None:
        await budget.reserve(worst)
        served.append(name)

    await budget.reserve(90)
    waiting = [asyncio.create_task(call(name, worst)) for name, worst in (("a", 60), ("b", 5))]
    await asyncio.sleep(0)
    assert served == []
    budget.settle(90, 10)
    await asyncio.gather(*waiting)
    assert served == ["a", "b"]


async def test_without_a_limit_nothing_is_counted() -> None:
    budget = Budget(None)
    await budget.reserve(10**18)
    budget.settle(10**18, 10**18)
    assert not budget.limited


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("malformed", [0.0, 0.1])
def test_with_256_calls_in_flight_the_endpoint_is_never_paid_more(malformed: float) -> None:
    """By the endpoint's own count of tokens, to the nano-dollar."""
    with FastEndpoint(latency=0.05, jitter=0.05, malformed=malformed) as endpoint:
        model = ModelSpecFactory.create(
            provider__base_url=endpoint.base_url,
            provider__max_concurrency=256,
            max_output_tokens=300,
        )
        project, budget = project_with_items(400), 60_000_000
        run = started_run(project, "ecj", model=model, budget_nanousd=budget)
        run_slice(run.pk, pace=replace(QUICK, width=256, claim=100, flush=0.1))
        seen = endpoint.stats()
    run.refresh_from_db()
    paid = seen["tokens_in"] * 150 + seen["tokens_out"] * 600
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "budget")
    assert paid <= budget
    assert run.cost_nanousd <= budget
    assert run.cost_nanousd > 0.8 * budget
    if not malformed:
        assert run.cost_nanousd == paid
        assert Turn.objects.count() == seen["requests"]
    before = run.cost_nanousd
    recount(run)
    run.refresh_from_db()
    assert run.cost_nanousd == before
