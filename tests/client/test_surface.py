"""The client loads nothing that it does not need, and never shows the key."""

import ast
import copy
import inspect
import io
import logging
import pickle
import subprocess
import sys
import tomllib
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

import labelhub_client
from labelhub.core.version import VERSION
from labelhub_client import Client, ClientError, WrongUse
from tests.cases import all_cases
from tests.client.helpers import ADDRESS, KEY, problem, scripted

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "clients" / "python" / "src"
PACKAGE = SOURCE / "labelhub_client"
HEAVY = (
    "django", "celery", "rest_framework", "channels", "apps", "numpy", "pandas", "pyarrow",
    "labelhub", "structlog", "aiohttp",
)  # fmt: skip


def test_what_is_given_out_is_listed() -> None:
    assert [name for name in labelhub_client.__all__ if not hasattr(labelhub_client, name)] == []
    errors = [kind for kind in vars(labelhub_client.errors).values() if inspect.isclass(kind)]
    named = {kind.__name__ for kind in errors if issubclass(kind, ClientError)}
    assert named <= set(labelhub_client.__all__)


def test_importing_it_loads_no_framework_and_leaves_the_environment_alone() -> None:
    """A notebook that imports it keeps its own number of threads for linear algebra."""
    script = (
        "import os, sys, threading; before = dict(os.environ)\n"
        "import labelhub_client\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
        "print(os.environ == before, threading.active_count())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=SOURCE, capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n") == ["[]", "True 1", ""]


def test_the_key_does_not_show_in_what_is_printed() -> None:
    client = Client(ADDRESS, KEY, progress=False)
    project = client.project("moods")
    shown = [client, project, project.export(), vars(client), client._http.headers]
    assert KEY not in f"{shown} {' '.join(map(str, shown))}"
    assert repr(client) == f"Client({ADDRESS!r})"


FAILURES: list[Any] = [
    httpx.ConnectError("refused"),
    httpx.ReadError("broke"),
    problem(401, "not_authenticated"),
    httpx.Response(200, text="<html>"),
    httpx.Response(302, headers={"Location": "http://elsewhere.test/?next=1"}),
]


@pytest.mark.parametrize("failure", FAILURES)
def test_the_key_does_not_show_in_errors_nor_in_what_they_hold(
    failure: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client, _ = scripted(failure)
    with pytest.raises(ClientError) as raised:
        client.project("moods").info()
    error = raised.value
    printed = io.StringIO()
    traceback.print_exception(error, file=printed)
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    assert not isinstance(error.__context__, httpx.HTTPError)  # it holds the request
    assert KEY not in printed.getvalue() + repr(error) + str(vars(error)) + caplog.text
    assert "?next" not in str(error)


@pytest.mark.parametrize(
    "copied",
    [copy.copy, lambda error: pickle.loads(pickle.dumps(error))],  # noqa: S301 - our own
)
def test_errors_travel_between_processes(copied: Callable[[Any], Any]) -> None:
    client, _ = scripted(problem(422, "invalid", errors=[{"field": "value", "message": "No."}]))
    with pytest.raises(ClientError) as raised:
        client.project("moods").info()
    again = copied(raised.value)
    assert (type(again), str(again)) == (type(raised.value), str(raised.value))
    assert again.errors[0].field == "value"


@all_cases(
    ("address", "words"),
    [
        ("", "address"),
        ("127.0.0.1:8000", "address"),
        ("ftp://labelhub.test", "address"),
        ("http://", "address"),
        ("http://me:" + KEY + "@labelhub.test", "leave out"),
        ("http://labelhub.test/?key=" + KEY, "address"),
        ("http://labelhub.test:port", "address"),
        (None, "address"),
    ],
)
def test_an_address_of_no_use_is_told(address: Any, words: str) -> None:
    with pytest.raises(WrongUse, match=words) as raised:
        Client(address, KEY)
    assert KEY not in str(raised.value)


@all_cases("key", ["", "a b c d e f g h", "kéykéykéy", "lh_0123456789\nX: y", None])
def test_a_key_of_no_use_is_told_and_not_shown(key: Any) -> None:
    with pytest.raises(WrongUse, match="API key") as raised:
        Client(ADDRESS, key)
    assert not key or key not in str(raised.value)


@pytest.mark.parametrize(
    "address", [ADDRESS, f"{ADDRESS}/", f"{ADDRESS}/api/v1/", f" {ADDRESS}/api/v1"]
)
def test_an_address_may_be_given_in_several_ways(address: str) -> None:
    assert repr(Client(address, KEY)) == f"Client({ADDRESS!r})"
    assert repr(Client(f"{ADDRESS}/below/", KEY)) == f"Client('{ADDRESS}/below')"


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan")])
def test_a_timeout_of_nothing_is_refused(timeout: float) -> None:
    with pytest.raises(WrongUse, match="timeout"):
        Client(ADDRESS, KEY, timeout=timeout)


def test_a_client_is_closed_by_with() -> None:
    with Client(ADDRESS, KEY) as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        client.project("moods").info()


def imported(path: Path) -> set[str]:
    """Top-level names that a file imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return {name.partition(".")[0] for name in found}


@all_cases("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_it_stands_on_httpx_alone(path: Path) -> None:
    allowed = {"httpx", "labelhub_client", *sys.stdlib_module_names}
    # Imported to make a DataFrame; elsewhere for type checkers only.
    allowed |= {"pandas"} if path.name in ("client.py", "exchange.py") else set()
    assert imported(path) <= allowed


def test_its_distribution_has_the_servers_version_licence_and_types() -> None:
    described = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]
    server = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name in ("version", "license", "requires-python"):
        assert described[name] == server[name]
    assert described["version"] == VERSION
    (needed,) = described["dependencies"]
    assert needed in server["dependencies"]
    assert (SOURCE.parent / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (PACKAGE / "py.typed").exists()
