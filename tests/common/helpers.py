"""What several of these tests look up."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def sprite_names() -> set[str]:
    """The names of all icons in the sprite."""
    return set(re.findall(r'<symbol id="([\w-]+)"', (ROOT / "static" / "icons.svg").read_text()))
