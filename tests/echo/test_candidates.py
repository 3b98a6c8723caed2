"""What other policies would have earned: from logs whose answer is known."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

import pytest

from apps.authors.models import Author
from apps.echo.models import Echo
from apps.echo.reporting.off_policy import evaluate_candidates
from tests.factories.authors import author_of
from tests.factories.offers import chosen, decision_of

pytestmark = pytest.mark.django_db

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
#: Echo prefers the tent, and a fifth of the messages explores.
PREFERS_TENT = {"tent": 0.9, "lamp": 0.1}
#: Nothing is good enough; a fifth of the messages explores.
PREFERS_NONE = {"tent": 0.1, "lamp": 0.1}
CLICK = ["clicked"]


@pytest.fixture
def authors(echo: Echo) -> list[Author]:
    return [author_of(echo.site, consent=False) for _ in range(40)]


def moments() -> Iterator[datetime]:
    return (START + timedelta(minutes=number) for number in range(1_000_000))


def evaluations(echo: Echo) -> dict[str, dict[str, Any]]:
    candidates = evaluate_candidates(echo)["candidates"]
    return {candidate["name"]: candidate["evaluation"] for candidate in candidates}


def fill(echo: Echo, authors: list[Author]) -> None:
    """Drawn just as often as it was likely: of 400 messages 360 tents, half of them clicked, and
    40 lamps, all of them clicked; of 100 others 80 nothing, 10 tents and 10 lamps, all clicked."""
    who, when = cycle(authors), moments()
    for number in range(360):
        events = CLICK * (number % 2)
        score = 0.2 if number < 180 else 0.6
        chosen(echo, next(who), next(when), "tent", PREFERS_TENT, events=events, score=score)
    for _ in range(40):
        chosen(echo, next(who), next(when), "lamp", PREFERS_TENT, events=CLICK, score=0.1)
    for item in ["tent"] * 10 + ["lamp"] * 10:
        chosen(echo, next(who), next(when), item, PREFERS_NONE, events=CLICK, score=0.05)
    for _ in range(80):
        chosen(echo, next(who), next(when), "", PREFERS_NONE)


#: As it was; the tent always where Echo prefers it; half tents, half lamps everywhere.
WORTH = {
    "logged": (180 + 40 + 20) / 500,
    "greedy": 200 / 500,
    "random_always": (100 + 200 + 100) / 500,
}


def test_each_is_worth_what_it_would_have_earned(echo: Echo, authors: list[Author]) -> None:
    fill(echo, authors)
    evaluated = evaluations(echo)
    for name, value in WORTH.items():
        found = evaluated[name]
        assert found["n"] == 500
        assert found["mean_weight"] == pytest.approx(1)
        for figure in (found["ips"], found["snips"]):
            assert figure["value"] == pytest.approx(value)
            assert figure["low"] is not None
            assert figure["high"] is not None
            assert figure["low"] < value < figure["high"]


def test_a_few_decisions_tell_nothing(echo: Echo, authors: list[Author]) -> None:
    for author, time in zip(authors, moments(), strict=False):
        chosen(echo, author, time, "tent", PREFERS_TENT, events=CLICK)
    found = evaluations(echo)["logged"]
    assert found["ips"]["value"] is None
    assert found["ips"]["reason"] == "too few effective messages"


@pytest.mark.thorough
def test_moments_without_a_choice_and_other_policies_are_left_out(
    echo: Echo, authors: list[Author]
) -> None:
    fill(echo, authors)
    decision_of(echo, authors[0], START, shown=False, why="too_soon")
    chosen(echo, authors[0], START, "tent", {"tent": 0.5}, policy="random", events=CLICK)
    assert evaluate_candidates(echo)["n"] == 500
