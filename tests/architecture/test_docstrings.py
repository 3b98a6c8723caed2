"""Public functions of the core are documented."""

import ast
from pathlib import Path

CORE = Path(__file__).resolve().parents[2] / "labelhub" / "core"


def test_public_functions_of_the_core_have_docstrings() -> None:
    missing = [
        f"{path.relative_to(CORE)}:{node.lineno} {node.name}"
        for path in sorted(CORE.rglob("*.py"))
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node) is None
    ]
    assert missing == []
