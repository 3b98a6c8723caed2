"""Numbers of several processes: added up, continued, and never poisoned by one that ended."""

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, values
from prometheus_client.exposition import generate_latest

from apps.common import metric_files

Number = dict[str, float]


@pytest.fixture
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any process yet."""
    settings.DATA_DIR = tmp_path
    monkeypatch.setenv(metric_files.VARIABLE, str(metric_files.folder()))
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    monkeypatch.setattr(metric_files, "_claim", metric_files._Claim())
    return metric_files.folder()


class Process:
    """A process that counts ``number`` things and holds as many sockets, until it is ended."""

    def __init__(self, number: int, role: str = "web") -> None:
        mine, its = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(
            target=_count, args=(its, number, role)
        )
        self.process.start()
        self.slot: str = mine.recv()
        self._pipe = mine

    def kill(self) -> None:
        assert self.process.pid
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()

    def end(self) -> None:
        self._pipe.send("end")
        self.process.join()


def _count(pipe: Connection, number: int, role: str) -> None:
    metric_files.set_role(role)
    metric_files.use_slots()
    registry = CollectorRegistry()
    Counter("things", "Things.", ("kind",), registry=registry).labels("a").inc(number)
    Gauge(
        "held", "Held.", ("kind",), multiprocess_mode="livesum", registry=registry
    ).labels("a").set(number)  # fmt: skip
    pipe.send(metric_files.claim_slot())
    pipe.recv()


def shown() -> Number:
    registry = CollectorRegistry()
    registry.register(metric_files.SlotsCollector())
    lines = generate_latest(registry).decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name.partition("{")[0]: float(value) for name, value in pairs}


def test_processes_are_added_up_and_the_dead_hold_nothing_open(folder: Path) -> None:
    first, second = Process(3), Process(4, "worker")
    assert shown() == {"things_total": 7, "held": 7}
    roles = [process.role for process in metric_files.live_processes()]
    assert roles == ["web", "worker"]
    first.kill()
    assert shown() == {"things_total": 7, "held": 4}
    assert [process.slot for process in metric_files.live_processes()] == [second.slot]
    second.end()


def test_the_successor_continues_the_count_of_its_slot(folder: Path) -> None:
    first, second = Process(3), Process(4)
    first.kill()
    third = Process(5)
    assert third.slot == first.slot
    assert shown() == {"things_total": 12, "held": 9}
    assert len(list(folder.glob("counter_*.db"))) == 2
    second.end()
    third.end()


def test_the_first_process_of_all_begins_at_zero(folder: Path) -> None:
    Process(3).kill()
    other = Process(4)
    assert shown() == {"things_total": 4, "held": 4}
    other.end()


def test_a_process_killed_while_it_claims_a_slot_hides_no_other(folder: Path) -> None:
    counting = Process(3)
    (folder / "counter_9.db").touch()
    (folder / "9.lock").touch()
    assert shown() == {"things_total": 3, "held": 3}
    counting.end()


def test_folders_of_machines_that_ended_days_ago_are_deleted(folder: Path) -> None:
    old, fresh = folder.parent / "old-container", folder.parent / "new-container"
    for other in (old, fresh):
        other.mkdir(parents=True)
        (other / "1.lock").touch()
    os.utime(old / "1.lock", (0, 0))
    Process(1).end()
    assert {path.name for path in folder.parent.iterdir()} == {folder.name, "new-container"}


def test_on_a_full_disk_a_process_counts_alone_and_says_so_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    metric_files.use_slots()
    counter = Counter("things", "Things.", ("kind",), registry=CollectorRegistry())
    counter.labels("a").inc()
    counter.labels("b").inc()
    assert [record.getMessage() for record in caplog.records] == [
        "Metrics count in this process only: [Errno 28] No space left on device"
    ]
    assert shown() == {}


def test_pages_are_on_the_disk_before_they_are_written(folder: Path) -> None:
    """A page of a file with holes that a full disk cannot hold ends the process by SIGBUS."""
    counting = Process(3)
    for name, size in metric_files.FILES.items():
        assert (folder / f"{name}_{counting.slot}.db").stat().st_blocks * 512 >= size
    counting.end()


def test_slots_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_files, "MOST_SLOTS", 1)
    with pytest.raises(OSError, match="have a slot"):
        metric_files.claim_slot()
