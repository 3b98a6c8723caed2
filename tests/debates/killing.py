"""Runs debates in children that are killed, on a database in a file. Started by test_kill.py.

Usage: ``killing.py FOLDER PROTOCOL ITEMS KILLS``. Prints one JSON object: what the disturbed and
the undisturbed run left behind, and how many calls each took.
"""

import json
import os
import signal
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402 - needs the settings
from django.db import connections  # noqa: E402

from apps.debates.models import Debate, Run, Turn  # noqa: E402
from apps.debates.services import SliceEnd, WorkerTimings, run_slice  # noqa: E402
from apps.labels.models import Label  # noqa: E402
from labelhub.core.llm.types import Call  # noqa: E402
from tests.factories.debates import Script, project_with_items, started_run  # noqa: E402
from tests.factories.labels import queued_items  # noqa: E402
from tests.factories.llm import ModelSpecFactory  # noqa: E402

PACE = WorkerTimings(width=4, claim=6, lease=0.6, beat=0.1, flush_rows=8, flush=0.05)
#: Who is not killed keeps what they have, also where the machine stands still for a second.
PATIENT = replace(PACE, lease=30.0)


def drive(run_id: int, ledger: Path, pace: WorkerTimings) -> SliceEnd:
    """One slice; every call leaves a byte in ``ledger``, whatever happens to this process."""
    book = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def answer(call: Call) -> str:
        """By the words of the call alone, so that equal calls are answered alike; not all agree."""
        os.write(book, b".")
        words = f"{call.text} {call.role} {call.step}"
        first, second = ("good", "bad") if zlib.crc32(words.encode()) % 4 else ("bad", "good")
        if call.output == "ranking":
            return f"First choice: {first}\nSecond choice: {second}"
        return f"Because of {call.text[:20]}.\nFinal Decision: {first}"

    return run_slice(run_id, pace=pace, open_models=Script(answer, seconds=0.01).open)


def drive_and_die(run_id: int, ledger: Path, enough: int) -> None:
    """Drive in a child and kill it once ``enough`` turns are stored."""
    connections.close_all()
    child = os.fork()
    if not child:
        # Where the machine stands still for a moment a slice may lose its lease; the next goes on.
        while drive(run_id, ledger, PACE) is not SliceEnd.FINISHED:
            time.sleep(PACE.lease)
        os._exit(0)
    deadline = time.monotonic() + 20
    while Turn.objects.filter(debate__run=run_id).count() < enough:
        assert time.monotonic() < deadline, "the child gets nowhere"
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def finish(run_id: int, ledger: Path) -> None:
    """Drive to the end, once the last lease is over."""
    deadline = time.monotonic() + 20
    while drive(run_id, ledger, PATIENT) is not SliceEnd.FINISHED:
        assert time.monotonic() < deadline, "the run does not end"
        time.sleep(0.1)


def left_behind(run: Run, ledger: Path) -> dict[str, Any]:
    """Everything the run wrote, without ids and times."""
    run.refresh_from_db()
    places = {item.pk: position for position, item in enumerate(run.project.items.order_by("pk"))}
    turns = Turn.objects.filter(debate__run=run).values_list(
        "debate__item", "step", "attempt", "value", "status"
    )
    debates = Debate.objects.filter(run=run).values_list("item", "status", "lease_token")
    labels = Label.objects.filter(run_uid=run.uid).values_list("item", "value")
    return {
        "status": run.status,
        "message": run.message,
        "turns_count": run.turns_count,
        "cost": run.cost_nanousd,
        "turns": sorted([places[item], *rest] for item, *rest in turns),
        "debates": sorted([places[item], *rest] for item, *rest in debates),
        "labels": sorted([places[item], *rest] for item, *rest in labels),
        "calls": ledger.stat().st_size,
    }


def main(folder: Path, protocol: str, items: int, most_kills: int) -> None:
    """A quiet run and a disturbed one over equal projects."""
    call_command("migrate", verbosity=0)
    model = ModelSpecFactory.create()
    report = {}
    for name, kills in (("quiet", 0), ("disturbed", most_kills)):
        project = project_with_items(0)
        for number in range(items):
            # The same texts in both, or they would be answered otherwise.
            queued_items(project, 1, text=f"Text number {number}.", external_id=f"t{number}")
        run = started_run(project, protocol, model=model)
        for kill in range(1, kills + 1):
            drive_and_die(run.pk, folder / name, enough=20 * kill)
            time.sleep(PACE.lease)
        finish(run.pk, folder / name)
        report[name] = left_behind(run, folder / name)
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
