"""An answer that was acknowledged is there, once, whatever was killed meanwhile.

``LABELHUB_KILL_ANSWERS=10000`` gives so many answers from 50 people instead of a few.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.widget_kill import Served, Tally, survive
from tests.fakes.stack import Redis, Stack, own_database

pytestmark = pytest.mark.timeout(900 if "LABELHUB_KILL_ANSWERS" in os.environ else 120)

ANSWERS = int(os.environ.get("LABELHUB_KILL_ANSWERS", "200"))
PEOPLE = 10 if ANSWERS <= 200 else 50


def through(served: Served, *more: Callable[[], object]) -> Tally:
    """All answers, through three kills and what else is to happen before the last of them."""
    faults = [served.kill, served.terminate, *more, served.kill]
    found = survive(served, PEOPLE, ANSWERS // PEOPLE, faults)
    print(found)
    return found


def holds(found: Tally) -> None:
    """Nothing lost, nothing doubled, and it was worth trying."""
    assert found.answers == ANSWERS // PEOPLE * PEOPLE
    assert found.faults == 0, found
    assert found.repeated > 0, "no answer was sent again: nothing was tried"
    assert found.nacks["too_early"] > 0


@pytest.mark.thorough
def test_answers_survive_three_kills_of_the_server(data_folder: Path) -> None:
    with Stack(data_folder) as stack:
        holds(through(Served(stack)))


@pytest.mark.services
def test_answers_survive_three_kills_and_a_redis_that_forgets(tmp_path: Path) -> None:
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        pytest.skip("needs PostgreSQL: make test-services")
    redis = Redis(tmp_path)

    def restart_redis() -> None:
        redis.kill()
        time.sleep(1)
        redis.start()

    try:
        with (
            own_database(url) as database,
            Stack(tmp_path, DATABASE_URL=database, REDIS_URL=redis.url) as stack,
        ):
            stack.worker()
            holds(through(Served(stack), restart_redis))
    finally:
        redis.kill()
