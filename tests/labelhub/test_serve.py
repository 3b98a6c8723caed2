"""``manage.py serve``: its start, its end, and what it says when it cannot."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.fakes.client import Client, Refused, wait_for
from tests.fakes.openai_server import FakeServer, Options
from tests.fakes.stack import MANAGE, ROOT, Program, Stack, run_of, wait_until_done
from tests.fakes.texts import SCHEMA, reviews
from tests.schema_file import copy_schema

pytestmark = pytest.mark.timeout(120)

IDLE_MB = 250


@dataclass(frozen=True)
class Running:
    """A server that is left running, and something of an upload that it found at its start."""

    stack: Stack
    program: Program
    address: str
    left: Path


@pytest.fixture
def stack(data_folder: Path) -> Iterator[Stack]:
    """SQLite and the embedded worker."""
    with Stack(data_folder) as made:
        yield made


@pytest.fixture(scope="module")
def running(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """For what many can look at: a start takes seconds."""
    folder = tmp_path_factory.mktemp("running")
    copy_schema(folder)
    left = folder / "spool" / "half-an-upload"
    left.parent.mkdir()
    left.touch()
    with Stack(folder) as made:
        yield Running(made, *made.server(), left)


def refusal(stack: Stack, *arguments: str) -> str:
    """What a command prints to stderr that must fail, with one line."""
    done = subprocess.run(
        [*MANAGE, *arguments],
        cwd=ROOT,
        env=stack.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.thorough
@pytest.mark.parametrize(
    "order", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)]
)
def test_an_idle_server_stops_cleanly_and_has_warned_of_nothing(stack: Stack, order: int) -> None:
    program, address = stack.server()
    parts = dict.fromkeys(("database", "worker", "disk"), "ok")
    assert Client(address).health() == (200, {"status": "ok", "parts": parts})
    assert program.rss_mb() <= IDLE_MB

    assert program.stop(order, seconds=8) == 0
    assert program.printed == f"LabelHub listens on {address}\n"


@pytest.mark.thorough
def test_a_server_about_to_stop_says_so_to_balancers_and_still_works(data_folder: Path) -> None:
    with Stack(data_folder, LABELHUB_DRAIN_SECONDS="30") as stack:
        program, address = stack.server()
        program.process.send_signal(signal.SIGTERM)
        wait_for(
            lambda: Client(address).health() == (503, {"status": "stopping"}),
            seconds=5,
            what="the news",
        )
        with pytest.raises(Refused, match="stopping"):
            Client(address).send("/health/live")
        assert Client(address).send("/accounts/login/")[0] == 200
        assert program.stop(seconds=8) == 0  # a second signal ends it at once


@pytest.mark.thorough
def test_a_server_at_work_stops_in_time_and_goes_on_when_started_again(
    tmp_path: Path,
) -> None:
    slow = FakeServer(Options(faults={"slow": 1.0}, slow=20.0))
    seeded = {"LABELHUB_LLM_MODEL": "fake"}
    with slow, Stack(tmp_path, LABELHUB_LLM_BASE_URL=slow.base_url, **seeded) as stack:
        key = stack.people("boss")["boss"]
        program, address = stack.server()
        client = Client(address, key)
        client.post("projects/", {"slug": "hotel", "schema": SCHEMA})
        client.post("projects/hotel/import/", reviews(10))
        run = client.post("projects/hotel/runs/", {"protocol": "single", "model": "fake"})["id"]
        while not slow.requests:
            time.sleep(0.05)

        began = time.monotonic()
        assert program.stop(seconds=12) == 0
        assert time.monotonic() - began < 8

        slow.options.faults.clear()
        _, client.address = stack.server()
        assert wait_until_done(client, run)["progress"]["done"] == 10
        assert run_of(client, run)["progress"]["failed"] == 0


@pytest.mark.thorough
def test_a_taken_port_is_one_line(running: Running) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        output = refusal(running.stack, "serve", "--port", port)
    expected = f"Cannot listen on 127.0.0.1:{port} (Address already in use): choose another --port."
    assert output == expected


@pytest.mark.thorough
@pytest.mark.parametrize("port", ["70000", "http"])
def test_what_is_no_port_is_one_line(running: Running, port: str) -> None:
    assert port in refusal(running.stack, "serve", "--port", port)


@pytest.mark.thorough
def test_several_workers_without_postgresql_and_redis_are_one_line(running: Running) -> None:
    output = refusal(running.stack, "serve", "--workers", "2")
    expected = "--workers above 1 needs PostgreSQL and Redis: set DATABASE_URL and REDIS_URL."
    assert output == expected


@pytest.mark.thorough
def test_two_servers_on_one_folder_both_work_and_the_second_says_what_to_expect(
    stack: Stack,
) -> None:
    key = stack.people("boss")["boss"]
    _, first = stack.server()
    program, second = stack.server()
    assert "Another LabelHub server uses" in program.printed

    client = Client(first, key)
    client.post("projects/", {"slug": "hotel", "schema": SCHEMA})
    client.post("projects/hotel/import/", reviews(40))
    runs = [
        Client(address, key).post(
            "projects/hotel/runs/", {"protocol": "single", "model": "offline"}
        )["id"]
        for address in (first, second)
    ]
    for run in runs:
        assert wait_until_done(client, run)["progress"]["turns"] == 40


def test_what_a_killed_server_left_of_uploads_is_removed(running: Running) -> None:
    assert not running.left.exists()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs Linux")
def test_without_a_processor_of_its_own_it_runs_on_all(running: Running) -> None:
    assert running.stack.env["LABELHUB_ONE_PROCESSOR"] == "false"
    allowed = frozenset(os.sched_getaffinity(0))
    assert set(map(frozenset, running.program.processors().values())) == {allowed}


@pytest.mark.thorough
def test_a_second_server_leaves_the_uploads_of_the_first_alone(stack: Stack) -> None:
    stack.server()
    coming = stack.folder / "spool" / "coming-in"
    coming.touch()
    stack.server()
    assert coming.exists()


def test_strangers_cannot_fill_the_disk(running: Running) -> None:
    host, port = running.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as stranger:
        stranger.sendall(
            b"POST /accounts/login/ HTTP/1.1\r\nHost: %s\r\nContent-Length: 4000000000\r\n\r\n"
            % host.encode()
        )
        assert b" 413 " in stranger.recv(1000)


@pytest.mark.thorough
def test_an_idle_connection_of_a_proxy_stays_open(running: Running) -> None:
    proxy = HTTPConnection(running.address.removeprefix("http://"), timeout=10)
    for _ in range(2):  # it connects once
        proxy.request("GET", "/health/live")
        assert proxy.getresponse().read() == b'{"status": "ok"}'
        time.sleep(6)  # uvicorn's own limit is 5
    proxy.close()


@pytest.mark.thorough
def test_a_signal_during_start_up_ends_it(stack: Stack) -> None:
    program = stack.start("serve", [*MANAGE, "serve", "--port", "0"])
    time.sleep(0.3)
    os.kill(program.process.pid, signal.SIGTERM)
    assert program.process.wait(10) in (0, -signal.SIGTERM)
