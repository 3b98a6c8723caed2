"""Servers keep the threads that answer requests on a processor of their own."""

import os
import secrets
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from labelhub.processor import one_processor
from tests.fakes.stack import Stack

ROOT = Path(__file__).resolve().parents[2]

PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
pytestmark = pytest.mark.skipif(PROCESSORS < 2, reason="needs Linux and two processors")


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> str:
    """Other names than those of the servers that run on this machine, however large that is."""
    name = f"labelhub-test-{secrets.token_hex(8)}"
    monkeypatch.setattr("labelhub.processor.NAME", name)
    monkeypatch.setattr("labelhub.processor.MANY", 1024)
    return name


def test_threads_started_within_stay_on_one_processor(name: str) -> None:
    allowed = os.sched_getaffinity(0)
    with one_processor() as number, ThreadPoolExecutor(1) as pool:
        assert number in allowed
        assert pool.submit(os.sched_getaffinity, 0).result() == {number}
    assert os.sched_getaffinity(0) == allowed


def test_servers_take_different_ones_and_the_last_none(name: str) -> None:
    allowed = os.sched_getaffinity(0)
    taken = [_in_other_process(name) for _ in allowed]
    try:
        numbers = [process.stdout.readline().strip() for process in taken if process.stdout]
        assert sorted(numbers) == sorted(str(number) for number in allowed)
        with one_processor() as number:
            assert number is None
            assert os.sched_getaffinity(0) == allowed
        taken[0].kill()
        taken[0].wait()
        with one_processor() as number:
            assert str(number) == numbers[0]
    finally:
        for process in taken:
            process.kill()
            process.communicate()


def test_where_it_is_forbidden_the_server_does_without(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", forbidden)
    with one_processor() as number:
        assert number is None


def test_a_large_machine_is_left_to_its_scheduler(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelhub.processor.MANY", 1)
    with one_processor() as number:
        assert number is None


def test_a_single_processor_is_left_alone(name: str) -> None:
    def alone() -> int | None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        with one_processor() as number:
            return number

    with ThreadPoolExecutor(1) as pool:  # a thread's own, as the system has it
        assert pool.submit(alone).result() is None


def _in_other_process(name: str) -> "subprocess.Popen[str]":
    code = "with processor.one_processor() as number: print(number, flush=True); time.sleep(60)"
    return subprocess.Popen(_named(name, code), cwd=ROOT, stdout=subprocess.PIPE, text=True)


def _named(name: str, code: str) -> list[str]:
    """A command that runs ``code`` and competes for processors under ``name`` only."""
    first = "import runpy, sys, time; from labelhub import processor; processor.NAME = sys.argv[1]"
    return [sys.executable, "-c", f"{first}; processor.MANY = 1024\n{code}", name]


@pytest.mark.thorough
def test_a_server_keeps_its_own_threads_there_and_lets_the_workers_go(
    name: str, data_folder: Path
) -> None:
    serve = "sys.argv = ['manage.py', 'serve', '--port', '0']"
    code = f"{serve}; runpy.run_path('manage.py', run_name='__main__')"
    with Stack(data_folder, LABELHUB_ONE_PROCESSOR="true") as stack:
        server = stack.start("serve", _named(name, code))
        server.wait_to_print("listens on")
        threads = server.processors()
    assert len(threads.pop(server.process.pid)) == 1
    assert os.sched_getaffinity(0) in threads.values()
