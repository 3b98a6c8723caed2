"""What may not stand in a committed file."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
THIS = Path(__file__).relative_to(ROOT)


def committed_texts() -> Iterator[tuple[Path, str]]:
    """Every text file that git tracks or would track."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file() and Path(name) != THIS:
            try:
                yield Path(name), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("an index or download address", r"https?://[^\s\"']*(pypi\.|/simple/|pythonhosted|registry\.npmjs|deb\.debian)"),
        ("a path of one machine", r"(?<![\w.-])/(root|home|work)/[a-z]"),
        ("something left for later", r"\b(TODO|FIXME|XXX|HACK)\b"),
        ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ],
)  # fmt: skip
def test_no_committed_file_holds(what: str, pattern: str) -> None:
    found = [
        f"{name}:{number}: {what}"
        for name, text in committed_texts()
        if name.name != "LICENSE"
        for number, line in enumerate(text.splitlines(), start=1)
        if re.search(pattern, line)
    ]
    assert found == []


def test_lock_files_name_versions_only() -> None:
    for name in ("requirements.lock", "requirements-dev.lock"):
        lines = [
            line
            for line in (ROOT / name).read_text().splitlines()
            if line and not line.startswith("#")
        ]
        assert lines
        assert [
            line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9._+!-]+", line)
        ] == []
