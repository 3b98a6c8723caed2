"""The wheel, installed outside the checkout: what it brings, and that it starts from there."""

import gzip
import os
import re
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.client import Client
from tests.fakes.stack import OURS, ROOT, Program
from tests.schema_file import copy_schema

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]

SECRET = "of-an-installed-labelhub".ljust(50, ".")


@dataclass(frozen=True)
class Installed:
    """A virtual environment with the wheel, and an empty home."""

    folder: Path
    packages: Path
    wheel: Path

    @property
    def command(self) -> str:
        return str(self.folder / "venv" / "bin" / "labelhub")

    def env(self, home: Path, **more: str) -> dict[str, str]:
        """What a new account has; nothing is written beside the data folder."""
        kept = ("PATH", "LANG", "TMPDIR")
        ours = {name: os.environ[name] for name in kept if name in os.environ}
        return {**ours, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1", **more}

    def run(self, home: Path, *arguments: str, **env: str) -> "subprocess.CompletedProcess[str]":
        """Run ``labelhub`` in an empty folder."""
        return subprocess.run(
            [self.command, *arguments],
            cwd=self.folder / "empty",
            env=self.env(home, **env),
            capture_output=True,
            text=True,
            check=False,
        )

    def files(self) -> dict[str, float]:
        """Every installed file of ours, and when it was written."""
        own = self.packages / "labelhub"
        return {str(path): path.stat().st_mtime for path in own.rglob("*")}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Without its dependencies, which the environment of the tests has."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "empty").mkdir()
    python, output = [sys.executable, "-m"], {"capture_output": True, "text": True}
    env = {name: value for name, value in os.environ.items() if not OURS.match(name)}
    build = ["build", "--wheel", "--no-isolation", "--skip-dependency-check", "--outdir", folder]
    done = subprocess.run([*python, *build, ROOT], env=env, check=False, **output)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv")
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    inside = folder / "venv" / "bin" / "python"
    install = ["pip", "--python", inside, "install", "--no-deps", wheel]
    done = subprocess.run([*python, *install], env=env, check=False, **output)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stderr
    (packages / "environment.pth").write_text(sysconfig.get_path("purelib"))
    return Installed(folder, packages, wheel)


@dataclass(frozen=True)
class Served:
    """A production server that was started for the first time."""

    program: Program
    address: str
    before: dict[str, float]


@pytest.fixture(scope="module")
def served(django_db_setup: None, installed: Installed) -> Iterator[Served]:
    before = installed.files()
    home = installed.folder / "home"
    data = home / ".local/share/labelhub"
    data.mkdir(parents=True)
    copy_schema(data)
    env = installed.env(home, LABELHUB_SECRET_KEY=SECRET)
    program = Program(
        [installed.command, "serve", "--port", "0"],
        log=installed.folder / "serve.log",
        env=env,
        cwd=installed.folder / "empty",
    )
    try:
        yield Served(program, program.wait_to_print(r"listens on (http://\S+)", 150)[1], before)
    finally:
        program.kill()


def read(address: str, **headers: str) -> tuple[str, bytes]:
    """The encoding and the body of a response."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, headers=named)  # noqa: S310 - our own server
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
        return answer.headers.get("Content-Encoding", ""), answer.read()


def test_nothing_but_labelhub_lies_in_site_packages(installed: Installed) -> None:
    names = {path.name for path in installed.packages.iterdir()} - {"environment.pth"}
    assert {name.partition("-")[0] for name in names} == {"labelhub"}
    listed = zipfile.ZipFile(installed.wheel).namelist()
    unwanted = re.compile(r"/tests?/|\.po$|\.pyc$|deploy|manage\.py")
    assert [name for name in listed if unwanted.search(name)] == []
    packed = {"apps", "collected", "locale", "prompts", "static", "templates"}
    assert {path.name for path in (installed.packages / "labelhub/_root").iterdir()} == packed


def test_help_and_version_need_no_secret_and_leave_nothing_behind(
    installed: Installed, tmp_path: Path
) -> None:
    assert installed.run(tmp_path, "--version").stdout == "LabelHub 0.1.0\n"
    listed = installed.run(tmp_path).stdout.split()
    assert {"demo", "serve", "worker", "migrate", "create_user"} <= set(listed)
    assert "--port" in installed.run(tmp_path, "serve", "--help").stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["serve"], ["worker"], ["create_user", "ada"]])
def test_production_refuses_in_one_line_without_its_secret(
    installed: Installed, tmp_path: Path, command: list[str]
) -> None:
    done = installed.run(tmp_path, *command)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("Set LABELHUB_SECRET_KEY to a random text")


def test_a_worker_without_redis_is_one_line(installed: Installed, tmp_path: Path) -> None:
    done = installed.run(tmp_path, "worker", LABELHUB_SECRET_KEY=SECRET)
    assert done.returncode == 1
    assert done.stderr == "Set REDIS_URL; without it the server has its own worker.\n"


def test_the_demo_is_made_in_the_home_and_other_commands_find_it(
    installed: Installed, tmp_path: Path
) -> None:
    before = installed.files()
    made = installed.run(tmp_path, "demo", "--no-serve")
    assert made.returncode == 0, made.stderr
    assert "sign in as    manager    password labelhub-demo" in made.stdout
    assert (tmp_path / ".local/share/labelhub/labelhub.sqlite3").exists()

    file = tmp_path / "exported.jsonl"
    exported = installed.run(tmp_path, "export_labels", "hotel-reviews", "--output", str(file))
    assert exported.returncode == 0, exported.stderr
    assert len(file.read_text().splitlines()) == 80
    assert "Set LABELHUB_SECRET_KEY" in installed.run(tmp_path, "serve").stderr
    assert list((installed.folder / "empty").iterdir()) == []
    assert installed.files() == before


def test_what_an_operator_needs_in_an_emergency_is_installed(
    django_db_setup: None, installed: Installed, tmp_path: Path
) -> None:
    data = tmp_path / ".local/share/labelhub"
    data.mkdir(parents=True)
    copy_schema(data)
    backup = str(tmp_path / "backup.tar")
    for command in (
        ["create_user", "ada", "--superuser"],
        ["backup", backup],
        ["create_user", "later"],
        ["restore", backup, "--replace"],
        ["create_user", "later"],  # gone with the restore
        ["reseal"],
        ["check_audit"],
        ["apply_retention", "--dry-run"],
        ["migrate", "--plan"],
    ):
        done = installed.run(tmp_path, *command, LABELHUB_SECRET_KEY=SECRET)
        assert done.returncode == 0, (command, done.stderr)
    assert installed.run(tmp_path, "create_user", "ada", LABELHUB_SECRET_KEY=SECRET).returncode == 1


def test_a_served_page_has_its_files_compressed_and_its_texts_translated(served: Served) -> None:
    assert Client(served.address).health()[0] == 200
    _, page = read(f"{served.address}/accounts/login/", Accept_Language="de")
    assert "Anmelden" in page.decode()
    paths = set(re.findall(r'"(/static/[^"#]+)', page.decode()))
    assert len(paths) > 10
    for path in paths:
        assert re.search(r"\.[0-9a-f]{12}\.\w+$", path), path
        encoding, body = read(served.address + path, Accept_Encoding="gzip")
        assert gzip.decompress(body) if encoding == "gzip" else body


def test_a_server_writes_nowhere_but_in_its_data_folder(
    served: Served, installed: Installed
) -> None:
    read(f"{served.address}/accounts/login/")
    assert installed.files() == served.before
    assert list((installed.folder / "empty").iterdir()) == []
