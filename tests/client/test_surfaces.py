"""Both surfaces are the same, load nothing they need not, and never show the key."""

import ast
import copy
import inspect
import io
import logging
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import httpx
import pytest

import labelhub.client
from labelhub.client import AsyncClient, Client, ClientError, WrongUse, asynchronous, sync
from tests.cases import all_cases
from tests.client.helpers import ADDRESS, KEY, QUICK, problem, scripted

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "labelhub" / "client"
HEAVY = (
    "django", "celery", "rest_framework", "channels", "apps", "numpy", "pandas", "pyarrow",
    "labelhub.core", "labelhub.settings", "structlog", "aiohttp",
)  # fmt: skip
PAIRS = [
    (sync.Client, asynchronous.AsyncClient),
    (sync.ProjectClient, asynchronous.AsyncProjectClient),
    (sync.RunClient, asynchronous.AsyncRunClient),
    (sync.Export, asynchronous.AsyncExport),
]
RENAMED = {"__enter__": "__aenter__", "__exit__": "__aexit__"}


def methods(kind: type[Any]) -> dict[str, Any]:
    """What a class defines itself."""
    own = {name: one for name, one in vars(kind).items() if callable(one) or name == "id"}
    return {name: one for name, one in own.items() if name not in ("_heard", "__module__")}


def plain(words: str) -> str:
    """A type or docstring without what must differ."""
    for name in ("Async", "async ", "asynchronous", "labelhub.client.sync.", "labelhub.client.."):
        words = words.replace(name, "")
    return words.replace("labelhub.client.", "")


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS)
def test_both_have_the_same_methods_that_take_and_give_the_same(
    blocking: type[Any], awaited: type[Any]
) -> None:
    theirs = methods(awaited)
    for name, ours in methods(blocking).items():
        other = theirs.pop(RENAMED.get(name, name))
        if isinstance(ours, property):
            continue
        assert plain(other.__doc__ or "") == plain(ours.__doc__ or ""), name
        signatures = [inspect.signature(one) for one in (ours, other)]
        assert [str(one) for one in signatures[0].parameters] == [
            str(one) for one in signatures[1].parameters
        ]
        kinds = [plain(str(one.return_annotation)) for one in signatures]
        assert kinds[0].replace(", None, None]", ", None]") == kinds[1], name
    assert theirs == {}


def test_what_is_given_out_is_listed() -> None:
    assert [name for name in labelhub.client.__all__ if not hasattr(labelhub.client, name)] == []
    errors = [one for one in vars(labelhub.client.errors).values() if inspect.isclass(one)]
    named = {one.__name__ for one in errors if issubclass(one, ClientError)}
    assert named <= set(labelhub.client.__all__)


def test_importing_it_loads_no_framework_and_no_pandas() -> None:
    script = (
        f"import sys, labelhub.client\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_hint_of_the_records_can_be_read() -> None:
    for one in vars(labelhub.client.records).values():
        if inspect.isclass(one) and one.__module__.startswith("labelhub"):
            assert get_type_hints(one)


@pytest.mark.parametrize("make", [Client, AsyncClient])
def test_the_key_does_not_show_in_what_is_printed(make: Any) -> None:
    client = make(ADDRESS, KEY, progress=False)
    project = client.project("moods")
    shown = [client, project, project.export(), client._link, client._link.settings]
    shown += [vars(client), vars(client._link), client._link._http.headers]
    assert not [one for one in shown if KEY in f"{one!r} {one}"]
    assert repr(client) == f"{make.__name__}({ADDRESS!r})"


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
    with pytest.raises(WrongUse, match=words) as told:
        Client(address, KEY)
    assert KEY not in str(told.value)


@all_cases("key", ["", "a b c d e f g h", "kéykéykéy", "lh_0123456789\nX: y", None])
def test_a_key_of_no_use_is_told_and_not_shown(key: Any) -> None:
    with pytest.raises(WrongUse, match="API key") as told:
        Client(ADDRESS, key)
    assert not key or key not in str(told.value)


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


async def test_both_are_context_managers() -> None:
    with Client(ADDRESS, KEY) as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        client.project("moods").info()
    async with AsyncClient(ADDRESS, KEY, retries=QUICK) as awaited:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        await awaited.project("moods").info()


def imported(path: Path) -> set[str]:
    """Top-level names that a file imports, wherever it does, and ours in full."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return {name if name.startswith("labelhub") else name.partition(".")[0] for name in found}


@all_cases("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_it_stands_on_httpx_alone(path: Path) -> None:
    outer = {name for name in imported(path) if not name.startswith("labelhub.client")}
    allowed = {"httpx", *sys.stdlib_module_names}
    # To DataFrames and back; elsewhere for type checkers only.
    allowed |= {"pandas"} if path.name in ("frames.py", "sync.py", "asynchronous.py") else set()
    assert outer <= allowed
