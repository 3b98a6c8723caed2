"""What the guides point at is there."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.cases import all_cases

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLACE = re.compile(
    r"`((?:labelhub|apps|static|templates|tests|prompts|deploy|docs|clients)/[\w./-]+)`"
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def pointed_at(guide: Path) -> Iterator[Path]:
    """Files and folders that a guide names or links to."""
    text = guide.read_text()
    yield from (ROOT / place for place in PLACE.findall(text))
    yield from (guide.parent / link for link in LINK.findall(text))


@all_cases("guide", GUIDES, ids=lambda guide: str(guide.relative_to(ROOT)))
def test_it_is_there(guide: Path) -> None:
    missing = [place for place in pointed_at(guide) if not place.exists()]
    assert missing == []


def test_there_is_something_to_look_at() -> None:
    assert sum(len(list(pointed_at(guide))) for guide in GUIDES) > 20


def test_the_picture_shows_the_rooms_as_the_import_contract_orders_them() -> None:
    picture = (ROOT / "docs/pictures/rooms.svg").read_text()
    drawn = [
        re.findall(r'class="name"[^>]*>(\w+)<', row)
        for row in re.findall(r'<g class="row">(.*?)\n</g>', picture, re.DOTALL)
    ]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = contracts["contracts"][0]["layers"]
    assert drawn == [layer.split(" | ") for layer in layers]
    core = set(re.findall(r'class="core">.*?class="name"[^>]*>(\w+)<', picture))
    parts = {part.parent.name for part in (ROOT / "labelhub/core").glob("*/__init__.py")}
    assert core == parts
