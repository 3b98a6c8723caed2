"""Names say what they hold."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VAGUE = {"each", "one", "at", "said", "told"}


def vague_names(source: str) -> Iterator[tuple[int, str]]:
    """The lines that bind a vague name, and the name; fields of tables and REST keep theirs."""
    tree = ast.parse(source)
    fields = {
        id(target)
        for scope in ast.walk(tree)
        if isinstance(scope, ast.ClassDef)
        for statement in scope.body
        for target in ast.walk(statement)
        if isinstance(statement, ast.Assign | ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if id(node) in fields:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE:
            yield node.lineno, node.id
        elif isinstance(node, ast.arg) and node.arg in VAGUE:
            yield node.lineno, node.arg


def test_vague_names_are_found() -> None:
    source = "def f(told): return [one for one in told]\nfor at, text in enumerate(x): pass"
    assert sorted(vague_names(source)) == [(1, "one"), (1, "told"), (2, "at")]
    assert not list(vague_names("row['at'] = model.said\nclass Event(Model): at = Field()"))


def test_no_variable_or_parameter_has_a_vague_name() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for folder in ("apps", "labelhub", "clients", "tests", "deploy", "examples")
        for path in (ROOT / folder).rglob("*.py")
        if "migrations" not in path.parts
        for line, name in vague_names(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)
