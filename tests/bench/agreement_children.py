"""Children that do one thing each, so that neither imports nor memory mix."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: For whatever of these does the linear algebra.
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
LONGEST = 900


def told_by(
    script: Path,
    *given: object,
    python: Path | str = sys.executable,
    env: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON that a script says on its last line.

    Raises:
        SystemExit: it failed; says what it wrote.
    """
    done = subprocess.run(
        [str(python), "-W", "ignore", str(script), *map(str, given)],
        env=dict(env) if env is not None else os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    if done.returncode:
        raise SystemExit(f"{script.name} {given} failed: {done.stderr.strip()[-3000:]}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told
