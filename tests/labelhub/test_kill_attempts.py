"""Killed while an endpoint does not answer: the attempts made before count on after a restart."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.fakes.client import Client, wait_for
from tests.fakes.openai_server import FakeServer, Options
from tests.fakes.stack import Stack, run_of
from tests.fakes.texts import SCHEMA, reviews

pytestmark = [pytest.mark.timeout(240), pytest.mark.thorough]

#: Attempts at a call, and requests that a kill cuts off before anybody can write them down.
ATTEMPTS, CUT_OFF = 5, 1


def test_a_call_that_times_out_ends_after_its_attempts_whoever_is_killed_meanwhile(
    tmp_path: Path,
) -> None:
    with (
        FakeServer(Options(faults={"hang": 1.0})) as model,
        Stack(
            tmp_path, LABELHUB_LLM_BASE_URL=model.base_url, LABELHUB_LLM_MODEL="fake-model"
        ) as stack,
    ):
        key = stack.people("boss")["boss"]
        program, address = stack.server()
        client = Client(address, key)
        client.post("projects/", {"slug": "hotel", "schema": SCHEMA})
        client.post("projects/hotel/import/", reviews(1))
        with closing(sqlite3.connect(tmp_path / "labelhub.sqlite3")) as database:
            database.execute("UPDATE llm_provider SET read_timeout = 1 WHERE kind != 'offline'")
            database.commit()
        run = client.post("projects/hotel/runs/", {"protocol": "single", "model": "fake-model"})

        def tried() -> int:
            rows = stack.rows("SELECT failed_tries FROM debates_debate")
            return sum(message.count("timed out") for (message,) in rows)

        wait_for(lambda: tried() >= 2, seconds=60, what="two attempts")
        program.kill()
        before = tried()
        assert before >= 2
        program, client.address = stack.server()
        ended = wait_for(
            lambda: found if (found := run_of(client, run["id"]))["status"] != "running" else None,
            seconds=180,
            what="the end of the run",
        )
        assert "imed out in 5 attempts" in str(ended), ended
        assert model.outcomes["hang"] <= ATTEMPTS + CUT_OFF
        assert stack.rows("SELECT status FROM debates_debate") == [("failed",)]
        assert stack.rows("SELECT tokens_out, cost_nanousd FROM debates_run") == [(0, 0)]
