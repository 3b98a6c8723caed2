"""The Python in which other packages are measured: an environment of its own, in a cache folder.

They are no dependencies of ours: some are GPL, some ask for other versions of what we use.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

WHOLE = (
    "krippendorff==0.9.0", "scikit-learn==1.9.1",
    "pandas==3.1.1", "attrs", "nltk", "tqdm",
)  # fmt: skip
#: Asks for hundreds of MB that what is measured here never imports.
ALONE = ("crowd-kit==1.4.2",)
READY = "import krippendorff, sklearn.metrics, crowdkit.aggregation"


def peers_python() -> Path | None:
    """The environment's Python, made the first time; None, and a line on why, where it cannot."""
    asked = "\n".join((sys.version, *WHOLE, *ALONE))
    folder = _cache() / f"agreement-peers-{hashlib.sha256(asked.encode()).hexdigest()[:10]}"
    python, done = folder / "bin" / "python", folder / "done"
    try:
        if not done.exists():
            _install(folder, python)
            done.touch()
    except (OSError, subprocess.SubprocessError) as error:
        told = getattr(error, "stderr", "") or str(error)
        why = (told.strip().splitlines() or ["it failed"])[-1]
        print(f"The other packages are left out, they cannot be installed: {why}", file=sys.stderr)
        return None
    return python


def _cache() -> Path:
    """The data folder that was named, else the user's cache."""
    if named := os.environ.get("LABELHUB_DATA_DIR"):
        return Path(named) / "bench"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "labelhub"


def _install(folder: Path, python: Path) -> None:
    print(f"installing what is compared with into {folder} ...", file=sys.stderr, flush=True)
    _run(sys.executable, "-m", "venv", "--clear", str(folder))
    pip = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _run(*pip, *WHOLE)
    _run(*pip, "--no-deps", *ALONE)
    _run(str(python), "-c", READY)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
