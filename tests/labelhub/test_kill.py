"""Killed again and again, a server loses nothing, doubles nothing and pays for nothing twice."""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.client import Client, wait_for
from tests.fakes.openai_server import FakeServer, Options
from tests.fakes.stack import Program, Stack, run_of, wait_until_done, wait_until_past
from tests.fakes.texts import SCHEMA, reviews

pytestmark = [pytest.mark.timeout(240), pytest.mark.thorough]

ITEMS = 400
RUN = {"protocol": "ecj", "model": "fake-model"}
DEBATES = """
    SELECT i.external_id, d.status, l.value FROM debates_debate d
    JOIN projects_item i ON i.id = d.item_id LEFT JOIN labels_label l ON l.id = d.label_id
    ORDER BY i.external_id"""
TURNS = """
    SELECT i.external_id, t.step, t.attempt, t.text, t.status FROM debates_turn t
    JOIN debates_debate d ON d.id = t.debate_id JOIN projects_item i ON i.id = d.item_id
    ORDER BY i.external_id, t.step, t.attempt"""
PROPOSED = """
    SELECT i.external_id, l.value FROM labels_label l JOIN projects_item i ON i.id = l.item_id
    WHERE l.action = 'proposed' ORDER BY i.external_id"""


#: Seconds that a call takes as a rule, and one that is under way when the server is killed.
LATENCY, HELD = 0.2, 30.0


@pytest.fixture
def model() -> Iterator[FakeServer]:
    """An endpoint that takes its time."""
    with FakeServer(Options(latency=LATENCY)) as server:
        yield server


def new_stack(folder: Path, model_url: str) -> Stack:
    """SQLite and the embedded worker."""
    folder.mkdir()
    return Stack(folder, LABELHUB_LLM_BASE_URL=model_url, LABELHUB_LLM_MODEL="fake-model")


def begin(stack: Stack, items: int = ITEMS) -> tuple[Program, Client]:
    """A server with a project of so many items."""
    key = stack.people("boss")["boss"]
    program, address = stack.server()
    client = Client(address, key)
    client.post("projects/", {"slug": "hotel", "schema": SCHEMA})
    counts = client.post("projects/hotel/import/", reviews(items))
    assert counts["created"] == items
    return program, client


def undisturbed(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of a run that nobody kills."""
    with FakeServer() as model, new_stack(folder, model.base_url) as stack:
        _, client = begin(stack)
        run = client.post("projects/hotel/runs/", RUN)["id"]
        wait_until_done(client, run, seconds=120)
        return ledger(stack)


def ledger(stack: Stack) -> dict[str, list[tuple[Any, ...]]]:
    """What a run has left in the database, without times and ids."""
    return {
        "debates": stack.rows(DEBATES),
        "turns": stack.rows(TURNS),
        "labels": stack.rows(PROPOSED),
    }


def review_some(client: Client, count: int) -> dict[str, Any]:
    """Label the next items of the queue; uid of each accepted label to its value."""
    accepted = {}
    for _ in range(count):
        task = client.post("projects/hotel/next/")
        answer = {"item": task["item"]["id"], "value": ["Price"], "lease": task["lease"]["token"]}
        label = client.post("projects/hotel/labels/", answer)
        accepted[label["uid"]] = label["value"]
    return accepted


def test_five_kills_leave_exactly_the_rows_of_an_undisturbed_run(
    tmp_path: Path, model: FakeServer
) -> None:
    with (
        ThreadPoolExecutor(1) as aside,
        new_stack(tmp_path / "killed", model.base_url) as stack,
    ):
        expected = aside.submit(undisturbed, tmp_path / "undisturbed")
        program, client = begin(stack)
        run = client.post("projects/hotel/runs/", RUN)["id"]
        accepted: dict[str, Any] = {}

        # In the thick of it, at once after a restart (nobody has taken over yet), and again.
        for debates, pause in ((40, 0.0), (0, 0.0), (140, 0.3), (0, 0.5), (260, 0.1)):
            wait_until_past(client, run, debates)
            model.options.latency = HELD  # however slow this machine: the run is not over yet
            accepted |= review_some(client, 3)
            time.sleep(pause)
            assert run_of(client, run)["status"] != "done", "the run was over before the kill"
            program.kill()
            model.options.latency = LATENCY
            program, client.address = stack.server()

        done = wait_until_done(client, run)
        assert ledger(stack) == expected.result(timeout=120)
        assert done["progress"]["done"] == ITEMS
        assert done["progress"]["turns"] == len(stack.rows(TURNS)) == 3 * ITEMS
        mine = client.every("projects/hotel/labels/?annotator=boss&page_size=200")
        assert {label["uid"]: label["value"] for label in mine} == accepted
        assert len(accepted) == 15
        assert Counter(stack.rows("SELECT status, COUNT(*) FROM debates_run GROUP BY 1")) == {
            ("done", 1): 1
        }
        assert program.stop() == 0


#: Attempts at a call, and requests that a kill cuts off before anybody can write them down.
ATTEMPTS, CUT_OFF = 5, 1


def test_a_call_that_times_out_ends_after_its_attempts_whoever_is_killed_meanwhile(
    tmp_path: Path,
) -> None:
    with (
        FakeServer(Options(faults={"hang": 1.0})) as model,
        new_stack(tmp_path / "hanging", model.base_url) as stack,
    ):
        program, client = begin(stack, items=1)
        with closing(sqlite3.connect(stack.folder / "labelhub.sqlite3")) as database:
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
