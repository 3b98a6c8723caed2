"""Who follows the guide for developers gets a protocol and an export format that work."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "developers.md").read_text(encoding="utf-8")
#: What a server needs of the project.
PARTS = ("apps", "labelhub", "templates", "static", "prompts", "manage.py", "pyproject.toml")
ITEMS = [
    {"id": "rain", "text": "It rained all day.", "gold": "weather"},
    {"id": "bread", "text": "Fresh\nbread, with butter!", "gold": "good food"},
]


def example(section: str, language: str) -> str:
    """The code of that language in a section of the guide."""
    part = GUIDE.split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    (code,) = re.findall(rf"^   ```{language}\n(.*?)^   ```", part, re.DOTALL | re.MULTILINE)
    return textwrap.dedent(code)


def add_module(listing: Path, name: str, neighbour: str) -> None:
    """Name a module beside its neighbour, in the import and in ``_MODULES``."""
    code = listing.read_text(encoding="utf-8")
    listing.write_text(code.replace(f"{neighbour},", f"{neighbour}, {name},"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with what the guide adds."""
    root = tmp_path_factory.mktemp("worked")
    for part in PARTS:
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, root / part)
    debate, exporters = root / "labelhub/core/debate", root / "apps/exchange/exporters"
    (debate / "second_opinion.py").write_text(example("Add a protocol", "python"))
    (root / "prompts/second_opinion").mkdir()
    prompt = root / "prompts/second_opinion/referee.md"
    prompt.write_text(example("Add a protocol", "markdown"))
    (exporters / "fasttext.py").write_text(example("Add an export format", "python"))
    add_module(debate / "protocols.py", "second_opinion", "self_refine")
    add_module(exporters / "__init__.py", "fasttext", "jsonl")
    return root


def manage(root: Path, *arguments: str) -> str:
    """What a command of the copy prints."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "labelhub.settings.dev",
        "LABELHUB_DATA_DIR": str(root / "var"),
    }
    env.pop("DATABASE_URL", None)
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
@pytest.mark.timeout(240)
def test_the_protocol_and_the_format_of_the_guide_work(project: Path) -> None:
    items = project / "items.jsonl"
    items.write_text("".join(f"{json.dumps(item)}\n" for item in ITEMS))
    manage(project, "migrate", "--verbosity", "0")
    manage(project, "create_project", "tried", "--task", "single", "--labels", "weather,good food")
    manage(project, "import_items", "tried", str(items))
    run = ["preannotate", "tried", "--protocol", "second_opinion"]
    done = json.loads(manage(project, *run, "--wait", "--json"))
    assert (done["status"], done["labelled"]) == ("done", len(ITEMS)), done
    labels = project / "labels.jsonl"
    manage(project, "export_labels", "tried", "--format", "jsonl", "--output", str(labels))
    rows = [json.loads(line) for line in labels.read_text().splitlines()]
    assert all(label["value"] for row in rows for label in row["labels"])
    lines = project / "lines.txt"
    manage(project, "export_labels", "tried", "--format", "fasttext", "--output", str(lines))
    assert lines.read_text().splitlines() == [
        "__label__weather It rained all day.",
        "__label__good_food Fresh bread, with butter!",
    ]
