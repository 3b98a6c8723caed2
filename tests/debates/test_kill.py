"""SIGKILL, five times in one run: nothing is lost, next to nothing is paid twice."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CALLS = 60 * 3
#: For each of five kills: what was in flight (4) and in the buffer (8 rows, or 50 ms of calls).
MOST_REPAID = 5 * (4 + 8 + 20)


def test_five_kills_leave_exactly_the_rows_of_an_undisturbed_run(tmp_path: Path) -> None:
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{tmp_path}/killed.sqlite3",
        "LABELHUB_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "labelhub.settings.test",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("killing.py")), str(tmp_path)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    quiet, disturbed = report["quiet"], report["disturbed"]
    calls = disturbed.pop("calls")
    assert quiet.pop("calls") == CALLS
    assert CALLS <= calls <= CALLS + MOST_REPAID
    assert disturbed == quiet
    assert quiet["message"] == "60 of 60 labelled."
    assert len(quiet["turns"]) == CALLS
