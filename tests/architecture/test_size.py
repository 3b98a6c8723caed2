"""The size budget: what does not fit here is two things."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINES_OF_FILE, LINES_OF_TEST_FILE, LINES_OF_FUNCTION, POSITIONAL = 300, 400, 40, 5


def sources(*folders: str) -> Iterator[Path]:
    """Python files below ``folders``, without migrations."""
    for folder in folders:
        yield from (
            path for path in sorted((ROOT / folder).rglob("*.py")) if "migrations" not in path.parts
        )


@cache
def tree_of(path: Path) -> ast.Module:
    """A file as Python reads it."""
    return ast.parse(path.read_text())


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a file."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_no_file_is_longer_than_its_budget() -> None:
    over = [
        f"{path.relative_to(ROOT)}: {lines} lines"
        for folder, budget in (
            ("labelhub", LINES_OF_FILE),
            ("apps", LINES_OF_FILE),
            ("tests", LINES_OF_TEST_FILE),
        )
        for path in sources(folder)
        if (lines := len(path.read_text().splitlines())) > budget
    ]
    assert over == []


@pytest.mark.thorough
def test_no_function_is_longer_than_forty_lines() -> None:
    over = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources("labelhub", "apps")
        for node in functions(path)
        if (node.end_lineno or 0) - node.lineno + 1 > LINES_OF_FUNCTION
    ]
    assert over == []


@pytest.mark.thorough
def test_no_function_takes_more_than_five_positional_parameters() -> None:
    over = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources("labelhub", "apps")
        for node in functions(path)
        if len(node.args.posonlyargs) + len(node.args.args) > POSITIONAL
    ]
    assert over == []


def test_public_functions_say_what_they_do() -> None:
    missing = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in sources("labelhub/core")
        for node in functions(path)
        if not node.name.startswith("_")
        and _is_top_level(path, node)
        and ast.get_docstring(node) is None
    ]
    assert missing == []


def _is_top_level(path: Path, wanted: ast.AST) -> bool:
    return any(
        getattr(node, "lineno", 0) == getattr(wanted, "lineno", -1) for node in tree_of(path).body
    )
