"""Money: set aside before it is spent, never more than there is, whoever comes at once."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.debates.models import Run, Turn
from apps.debates.services import SliceEnd, run_slice
from apps.debates.services.driving.budget import Budget, BudgetReached, worst_cost
from apps.debates.services.driving.store import recount_sums
from tests.factories.debates import QUICK, project_with_items, started_run
from tests.factories.llm import ModelSpecFactory
from tests.fakes.fast_endpoint import FastEndpoint
from tests.fakes.openai_server import FakeServer
from tests.llm.asking_helpers import make_call, make_spec, opened
from tests.llm.tiny_endpoint import Answer, Heard, chat_completion, tiny_endpoint

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
# The second is the same two seconds of 400 debates again, with answers of no use among them.
@pytest.mark.thorough
@pytest.mark.parametrize("malformed", [0.0, pytest.param(0.1, marks=pytest.mark.thorough)])
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
        while run.going:  # more than one slice where the machine is busy
            run_slice(run.pk, pace=replace(QUICK, width=256, claim=100, flush=0.1))
            run.refresh_from_db()
        seen = endpoint.stats()
    paid = seen["tokens_in"] * 150 + seen["tokens_out"] * 600
    assert (run.status, run.pause_code) == (Run.Status.PAUSED, "budget")
    assert paid <= budget
    assert run.cost_nanousd <= budget
    assert run.cost_nanousd > 0.8 * budget
    if not malformed:
        assert run.cost_nanousd == paid
        assert Turn.objects.count() == seen["requests"]
    before = run.cost_nanousd
    recount_sums(run)
    run.refresh_from_db()
    assert run.cost_nanousd == before


async def test_what_was_set_aside_for_a_call_that_is_cancelled_is_given_back() -> None:
    """Else whoever comes later would wait for it for ever."""
    budget = Budget(100)
    await budget.reserve(90)
    waiting = asyncio.create_task(budget.reserve(60))
    await asyncio.sleep(0)
    budget.settle(90, 0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert budget._reserved == 0


@pytest.mark.thorough
@pytest.mark.django_db(transaction=True)
def test_what_answers_of_no_use_have_cost_is_booked_when_the_slice_ends(
    model_server: FakeServer,
) -> None:
    """The next slice would spend it again."""
    model_server.options.faults = {"malformed": 1.0}
    model = ModelSpecFactory.create(provider__base_url=model_server.base_url)
    run = started_run(project_with_items(1), model=model)
    assert run_slice(run.pk, pace=replace(QUICK, slice=0.3)) is SliceEnd.MORE
    run.refresh_from_db()
    turn = Turn.objects.get()
    assert (turn.status, turn.debate.status, turn.usage_estimated) == ("failed", "waiting", True)
    assert run.cost_nanousd == turn.cost_nanousd
    assert (turn.cost_nanousd or 0) > 0


@pytest.mark.parametrize("useless", [{"choices": ["x" * 40_000]}, chat_completion("x " * 40_000)])
async def test_what_is_guessed_is_never_more_than_the_cap_allows(useless: dict[str, Any]) -> None:
    useless.pop("usage", None)

    def say(heard: Heard) -> Answer:
        return 200, chat_completion() if heard.before else useless, {}

    async with tiny_endpoint(say) as endpoint:
        spec = make_spec(provider={"base_url": endpoint.base_url}, max_output_tokens=100)
        async with opened(spec) as gateway:
            usage = (await gateway.complete(spec, make_call())).usage
    assert usage.estimated
    assert 100 <= usage.tokens_out <= 105


def test_what_is_added_to_a_request_may_cost_as_well() -> None:
    tools = {"tools": [{"description": "x" * 1000}]}
    call = make_call(response_format=tools)
    plain = make_spec(price_in=Decimal(1), price_out=Decimal(1))
    armed = make_spec(price_in=Decimal(1), price_out=Decimal(1), extra_body=tools)
    bare = worst_cost(plain, make_call())
    assert worst_cost(armed, make_call()) >= bare + 1_000_000
    assert worst_cost(plain, call) >= bare + 1_000_000
