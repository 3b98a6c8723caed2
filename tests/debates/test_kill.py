"""SIGKILL, again and again in one run: nothing is lost, next to nothing is paid twice.

Each kill waits for a lease to run out; five kills and other protocols are left to where there is
time for them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What may be paid again for each kill: a batch of 8 rows that is being written and one that waits,
#: each with the calls in flight when it was full (4 debates of at most 5 calls at once).
REPAID = 2 * (8 + 4 * 5)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("protocol", "items", "kills"),
    [
        ("ecj", 25, 2),
        pytest.param("ecj", 60, 5, marks=pytest.mark.thorough),
        pytest.param("discussion", 25, 2, marks=pytest.mark.thorough),
        pytest.param("courtroom", 20, 2, marks=pytest.mark.thorough),
        pytest.param("self_consistency", 30, 2, marks=pytest.mark.thorough),
        pytest.param("self_refine", 30, 2, marks=pytest.mark.thorough),
        pytest.param("vote", 40, 2, marks=pytest.mark.thorough),
        pytest.param("cascade", 20, 2, marks=pytest.mark.thorough),
        pytest.param("single", 90, 2, marks=pytest.mark.thorough),
    ],
)
def test_kills_leave_exactly_the_rows_of_an_undisturbed_run(
    data_folder: Path, protocol: str, items: int, kills: int
) -> None:
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{data_folder}/labelhub.sqlite3",
        "LABELHUB_DATA_DIR": str(data_folder),
        "DJANGO_SETTINGS_MODULE": "labelhub.settings.test",
        "PYTHONPATH": str(ROOT),
    }
    script = str(Path(__file__).with_name("killing.py"))
    done = subprocess.run(
        [sys.executable, script, str(data_folder), protocol, str(items), str(kills)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=160,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    quiet, disturbed = report["quiet"], report["disturbed"]
    calls, needed = disturbed.pop("calls"), quiet.pop("calls")
    assert needed == len(quiet["turns"])
    assert needed <= calls <= needed + kills * REPAID
    assert disturbed == quiet
    finished = [status for _, status, _ in quiet["debates"]]
    assert len(finished) == items
    assert set(finished) <= {"done", "unparsed"}
