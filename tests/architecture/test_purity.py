"""What import-linter cannot see: what really gets loaded, models reached by name, stray tasks."""

import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("django", "celery", "channels", "rest_framework", "openai", "aiohttp", "apps")


@pytest.mark.thorough
def test_importing_the_whole_core_loads_no_framework() -> None:
    """Also catches what ``labelhub/__init__.py`` would drag in."""
    script = (
        "import importlib, pkgutil, sys, labelhub.core as core\n"
        "for module in pkgutil.walk_packages(core.__path__, 'labelhub.core.'):\n"
        "    importlib.import_module(module.name)\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_server_has_one_thread_for_linear_algebra_before_numpy_is_loaded() -> None:
    script = (
        "import sys; from django.conf import settings; settings.DEBUG\n"
        "import os; print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)"
    )
    environment = {key: value for key, value in os.environ.items() if "NUM_THREADS" not in key}
    environment["DJANGO_SETTINGS_MODULE"] = "labelhub.settings.test"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["1", "False"]


#: What a server and its worker need for some pages, formats or installations only. Each takes a
#: tenth of a second or 5 MB and more.
LATER = (
    "aiohttp", "altair", "channels_redis", "httpx2", "kombu.transport.redis", "openai", "openpyxl",
    "pandas", "pyarrow", "redis", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats",
    "sklearn", "vl_convert",
)  # fmt: skip


def test_a_server_that_starts_loads_only_what_every_server_needs() -> None:
    script = (
        "import sys, labelhub.asgi, labelhub.server, labelhub.worker\n"
        f"print([name for name in {LATER!r} if name in sys.modules])"
    )
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "labelhub.settings.test", "REDIS_URL": ""}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


@cache
def calls() -> Sequence[tuple[str, str]]:
    """What is called in the apps and the composition root, and where."""
    found = []
    for path in sorted([*(ROOT / "apps").rglob("*.py"), *(ROOT / "labelhub").rglob("*.py")]):
        if "migrations" in path.parts:
            continue  # migrations reach historical models by name; that is what it is for
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
                found.append((called, f"{path.relative_to(ROOT)}:{node.lineno}"))
    return found


@pytest.mark.parametrize("name", ["get_model", "import_module", "import_string", "send_task"])
def test_nothing_is_reached_by_a_string_past_the_contracts(name: str) -> None:
    """``apps.get_model`` and its like would pass every import contract."""
    assert [place for called, place in calls() if called == name] == []


@pytest.mark.thorough
def test_every_task_is_bound_to_our_celery_app() -> None:
    script = (
        "import django; django.setup()\n"
        "from labelhub.celery import app\n"
        "from celery import Task\n"
        "from apps.authors import tasks as authors\n"
        "from apps.common import jobs\n"
        "from apps.echo import tasks as echo\n"
        "named = [*vars(authors).values(), *vars(jobs).values(), *vars(echo).values()]\n"
        "ours = [value for value in named if isinstance(value, Task)]\n"
        "assert len(ours) == 3, ours\n"
        "print(all(task.app is app for task in ours))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"
