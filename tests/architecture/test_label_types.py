"""Nothing outside ``core/schema/tasks`` asks which label type it has: the type itself is asked."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from labelhub.core.schema import TASKS

ROOT = Path(__file__).resolve().parents[2]
TYPES = ROOT / "labelhub/core/schema/tasks"
NAMES = "|".join(TASKS)
#: A page's markup or script that compares a task with a name, or lists names.
IN_PAGES = re.compile(
    rf"""(?:task|kind)\w*\W{{0,4}}\s*(?:[!=]=+|in)\s*["'](?:{NAMES})["']"""
    rf"""|["'](?:{NAMES})["']\s*,\s*["'](?:{NAMES})["']|data-task=["'](?:{NAMES})["']"""
)


#: Where pages and prompts are, and how their files' names end.
FOLDERS = (("templates", "html"), ("static/js", "js"), ("static/css", "css"), ("prompts", "md"))


def names_in(node: ast.AST) -> set[str]:
    """The names of label types that stand in ``node`` as constants."""
    found = (constant.value for constant in ast.walk(node) if isinstance(constant, ast.Constant))
    return {value for value in found if isinstance(value, str) and value in TASKS}


def compares(node: ast.AST) -> bool:
    """A task is compared or matched with a name, or its class is asked for."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
        return re.search(r"\btask\b", ast.unparse(node.args[0])) is not None
    if not isinstance(node, ast.Compare | ast.Match):
        return False
    subject = node.subject if isinstance(node, ast.Match) else node
    return "task" in ast.unparse(subject).lower() and bool(names_in(node))


def tabulates(node: ast.AST) -> bool:
    """Two names or more are listed, or the keys of a table."""
    parts: list[ast.expr | None] = []
    if isinstance(node, ast.Dict):
        parts = list(node.keys)
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = [part for part in node.elts if isinstance(part, ast.Constant)]
    return len({name for part in parts if part for name in names_in(part)}) > 1


def imports(node: ast.AST) -> bool:
    """A certain type is imported."""
    module = (getattr(node, "module", "") or "") if isinstance(node, ast.ImportFrom) else ""
    return module.removeprefix("labelhub.core.schema.tasks.") not in (module, "base")


def questions(source: str) -> Iterator[int]:
    """The lines that ask for a certain type."""
    for node in ast.walk(ast.parse(source)):
        if compares(node) or tabulates(node) or imports(node):
            yield int(getattr(node, "lineno", 0))


def test_questions_are_found() -> None:
    for source in (
        "schema.task.name == 'multi'",
        "task is TASKS['multi']",
        "task not in (TASKS['text'], other)",
        "match schema.task.name:\n case 'text': pass",
        "isinstance(schema.task, Multi)",
        "{TASKS['single']: 1, TASKS['multi']: 2}",
        "['text', 'per_item']",
        "from labelhub.core.schema.tasks.multi import Multi",
    ):
        assert list(questions(source)) == [1], source
    assert not list(questions("schema.task.several\nTASKS[name]\nparse({'task': 'text'})"))
    assert IN_PAGES.search("{% if task.task == 'multi' %}")
    assert IN_PAGES.search('["text", "per_item"].includes(task)')


def test_no_module_asks_which_type_it_is() -> None:
    files = [*(ROOT / "apps").rglob("*.py"), *(ROOT / "labelhub").rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(files)
        if TYPES not in path.parents
        for line in questions(path.read_text())
    ]
    assert found == []


def test_no_page_or_prompt_asks_which_type_it_is() -> None:
    found = {
        str(path.relative_to(ROOT))
        for folder, ending in FOLDERS
        for path in (ROOT / folder).rglob(f"*.{ending}")
        if IN_PAGES.search(path.read_text())
    }
    assert found == set()
