"""The tests of what was touched: ``make quick``, or ``make quick SINCE=REF`` for more than that.

A changed test file is run itself; a changed module runs the tests of its app, or of its part of the
core; a template or a style sheet the tests of its app and those of all templates.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: The beginning of a path → the tests that what lies there concerns.
TESTS = {
    r"(?:tests|apps|templates)/(\w+)/": [r"tests/\1"],
    r"labelhub/core/(\w+)/": [r"tests/core/\1"],
    r"labelhub/core/schema/": [
        "tests/core/test_schema.py",
        "tests/core/test_schema_changes.py",
        "tests/core/test_schema.py",
        "tests/core/llm",
        "tests/architecture/test_label_types.py",
        "tests/test_new_label_type.py",
    ],
    r"labelhub/core/\w+\.py": ["tests/core"],
    r"clients/python/": ["tests/client"],
    r"labelhub/(?!core)": ["tests/labelhub"],
    r"(?:templates|static)/": ["tests/architecture/test_templates.py"],
    r"prompts/": ["tests/core/test_prompts.py", "tests/core/debate"],
}
SKIPPED = "not thorough and not services and not e2e and not peers"


def touched(since: str) -> list[str]:
    """Files that differ from ``since``, new ones too, by their paths within the project."""
    changed = ["git", "diff", "--name-only", since]
    new = ["git", "ls-files", "--others", "--exclude-standard"]
    found = [subprocess.check_output(command, cwd=ROOT, text=True) for command in (changed, new)]
    return sorted({line for text in found for line in text.splitlines()})


def tests_of(name: str) -> set[str]:
    """The test files and folders that a file of the project concerns."""
    if re.fullmatch(r"tests/.*/test_\w+\.py", name):
        return {name}
    found = (re.match(pattern, name) for pattern in TESTS)
    return {
        match.expand(test)
        for match, tests in zip(found, TESTS.values(), strict=True)
        if match
        for test in tests
    }


if __name__ == "__main__":
    wanted = {test for name in touched(sys.argv[1] or "HEAD") for test in tests_of(name)}
    wanted = {test for test in wanted if (ROOT / test).exists()}
    if not wanted:
        print("Nothing that has tests of its own was touched.")
        sys.exit()
    print("Testing", ", ".join(sorted(wanted)))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "worksteal",
        "-m",
        SKIPPED,
    ]
    sys.exit(subprocess.call([*command, "-m", SKIPPED, *sorted(wanted)], cwd=ROOT))
