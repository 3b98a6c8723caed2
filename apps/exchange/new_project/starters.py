"""Templates of projects to start from: one TOML file each, read once."""

import json
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from labelhub.core.errors import NotFound
from labelhub.core.schema import Schema, parse_schema

FOLDER = Path(__file__).with_name("project_templates")


@dataclass(frozen=True, slots=True)
class Starter:
    """``items`` are rows as an import reads them; each of them was written for its template."""

    key: str
    title: str
    summary: str
    schema: Schema
    guideline: str
    items: tuple[dict[str, Any], ...]

    @property
    def rows(self) -> bytes:
        """The items as JSON Lines."""
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.items).encode()


@cache
def starters() -> dict[str, Starter]:
    """The templates by key, in the order in which they are offered."""
    read = [_read(path) for path in FOLDER.glob("*.toml")]
    return {starter.key: starter for _, starter in sorted(read, key=lambda pair: pair[0])}


def starter_named(key: str) -> Starter:
    """The template ``key``.

    Raises:
        NotFound: there is none.
    """
    found = starters().get(key)
    if found is None:
        raise NotFound(f"There is no project template '{key[:80]}'.")
    return found


def _read(path: Path) -> tuple[int, Starter]:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    schema = parse_schema(data["schema"])
    starter = Starter(
        key=path.stem,
        title=data["title"],
        summary=data["summary"],
        schema=schema,
        guideline=data["guideline"].strip(),
        items=tuple(
            {"id": f"sample-{number}", **item, "meta": {"sample": "written for this template"}}
            for number, item in enumerate(data["items"], start=1)
        ),
    )
    return data["place"], starter
