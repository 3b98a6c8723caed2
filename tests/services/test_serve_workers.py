"""``serve --workers N``: several processes answer requests at one address."""

import os
import re
import signal
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.fakes.client import Client, wait_for
from tests.fakes.stack import Program
from tests.services.conftest import Site

TOKEN = "the-token-of-a-test-server"
LIVE = re.compile(r'^labelhub_http_requests_total{.*route="/health/ready".*} (\S+)$', re.MULTILINE)

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]


@pytest.fixture
def program(site: Site) -> Program:
    """A server with two web processes."""
    site.stack.env["LABELHUB_METRICS_TOKEN"] = TOKEN
    program, address = site.stack.server("--workers", "2")
    assert Client(address).health()[0] == 200
    return program


def test_a_killed_process_is_replaced_and_requests_are_answered(program: Program) -> None:
    first, second = children(program)
    os.kill(first, signal.SIGKILL)

    def look() -> set[int] | None:
        found = children(program)
        return found if len(found) == 2 and first not in found else None

    replaced = wait_for(look, seconds=20, what="a new process")
    assert second in replaced
    address = program.wait_to_print(r"listens on (http://\S+)")[1]
    assert [Client(address).health()[0] for _ in range(10)] == [200] * 10


def test_metrics_add_up_all_processes_also_one_that_was_killed(program: Program) -> None:
    address = program.wait_to_print(r"listens on (http://\S+)")[1]
    for _ in range(20):
        Client(address).health()
    before = requests_counted(address)
    assert before >= 20
    first, _ = children(program)
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: first not in children(program) or None, seconds=20, what="its end")
    assert [requests_counted(address) for _ in range(6)] == [before] * 6
    Client(address).health()
    assert requests_counted(address) == before + 1


def requests_counted(address: str) -> float:
    """The requests for health, whichever process is asked."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with urlopen(Request(f"{address}/metrics", headers=headers)) as response:  # noqa: S310 - ours
        return sum(map(float, LIVE.findall(response.read().decode())))


def test_the_order_to_stop_ends_all_processes(program: Program) -> None:
    processes = children(program)
    assert program.stop() == 0
    assert not any(alive(pid) for pid in processes)


def test_the_processes_end_when_their_parent_is_killed(program: Program) -> None:
    processes = children(program)
    program.kill()
    assert len(processes) == 2
    wait_for(
        lambda: not any(alive(pid) for pid in processes) or None,
        seconds=30,
        what="the end of both processes",
    )
    assert not any(alive(pid) for pid in processes)


def children(program: Program) -> set[int]:
    """The processes below the server's first one."""
    pid = program.process.pid
    return {int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}


def alive(pid: int) -> bool:
    """Whether the process runs; what has ended and waits for its parent does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
