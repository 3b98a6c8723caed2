"""Templates of projects to start from: one TOML file each, read once, and their names."""

import json
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from labelhub.core.errors import NotFound
from labelhub.core.schema import Schema, parse_schema

FOLDER = Path(__file__).with_name("project_templates")
#: Key (the name of the file) → title and summary, in the order in which they are offered.
TEXTS = {
    "sentiment": (_("Sentiment"), _("Is the text positive, negative or neither?")),
    "intent": (_("Intent"), _("What does a customer's message ask for?")),
    "aspects": (_("Aspects"), _("Which topics does a review talk about?")),
    "toxicity": (_("Toxicity"), _("How hurtful is a comment, on a scale?")),
    "choice_questions": (
        _("Choice questions"),
        _("Each item brings its own question and answers."),
    ),
    "pairwise": (_("Pairwise choice"), _("Which of two answers is better?")),
}


@dataclass(frozen=True, slots=True)
class Starter:
    """``items`` are rows as an import reads them; each of them was written for its template."""

    key: str
    title: StrOrPromise
    summary: StrOrPromise
    schema: Schema
    guideline: str
    items: tuple[dict[str, Any], ...]

    @property
    def rows(self) -> bytes:
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.items).encode()


@cache
def starters() -> dict[str, Starter]:
    """The templates by key, in the order in which they are offered."""
    return {key: _read(key) for key in TEXTS}


def starter_named(key: str) -> Starter:
    """The template ``key``; NotFound if there is none."""
    found = starters().get(key)
    if found is None:
        raise NotFound("There is no project template '%(key)s'.", key=key[:80])
    return found


def _read(key: str) -> Starter:
    data = tomllib.loads((FOLDER / f"{key}.toml").read_text(encoding="utf-8"))
    title, summary = TEXTS[key]
    return Starter(
        key=key,
        title=title,
        summary=summary,
        schema=parse_schema(data["schema"]),
        guideline=data["guideline"].strip(),
        items=tuple(
            {"id": f"sample-{number}", **item, "meta": {"sample": "written for this template"}}
            for number, item in enumerate(data["items"], start=1)
        ),
    )
