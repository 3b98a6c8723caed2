"""What the guides point at is there."""

import re
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
