"""Servers keep the threads that answer requests on a processor of their own."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from labelhub.processor import one_processor

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs Linux and two processors",
)


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Other names than those of the servers that run on this machine."""
    name = f"labelhub-test-{tmp_path}"
    monkeypatch.setattr("labelhub.processor.NAME", name)
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


def test_a_single_processor_is_left_alone(name: str) -> None:
    def alone() -> int | None:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        with one_processor() as number:
            return number

    with ThreadPoolExecutor(1) as pool:  # a thread's own, as the system has it
        assert pool.submit(alone).result() is None


def _in_other_process(name: str) -> "subprocess.Popen[str]":
    code = (
        "import sys, time; from labelhub import processor; processor.NAME = sys.argv[1]\n"
        "with processor.one_processor() as number: print(number, flush=True); time.sleep(60)"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, name], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
