"""Renew requirements.lock and requirements-dev.lock from the ranges in pyproject.toml.

Each is what a fresh virtual environment holds after installing the ranges: names and versions only,
whatever index the machine uses.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = "# Made by `make lock` from pyproject.toml; names and versions only.\n"


def frozen(ranges: list[str]) -> str:
    """``name==version`` lines of a fresh environment that satisfies ``ranges``."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        pip = [os.path.join(folder, "bin", "python"), "-m", "pip"]  # noqa: PTH118 - one join
        subprocess.run([*pip, "install", "--quiet", *ranges], check=True)  # noqa: S603 - our own ranges
        listed = subprocess.run([*pip, "freeze"], check=True, capture_output=True, text=True)  # noqa: S603
    return HEAD + listed.stdout


def main() -> int:
    """Write both lock files."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    optional = [extras[name] for name in re.findall(r"\w+", extras["full"][0])[1:]]
    run, dev = sum(optional, project["dependencies"]), extras["dev"]
    (ROOT / "requirements.lock").write_text(frozen(run))
    (ROOT / "requirements-dev.lock").write_text(frozen(run + dev))
    return 0


if __name__ == "__main__":
    sys.exit(main())
