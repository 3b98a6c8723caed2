"""What the command's options mean, checked as far as that goes without the file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from apps.agreement.papers.asked import Asked
from apps.agreement.papers.bringing import Choice
from apps.agreement.papers.kinds import PaperTable
from apps.llm.models import ModelSpec
from apps.llm.selectors import default_models
from apps.llm.services import ensure_builtin, model_for_run, seed_from_environment
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Schema, parse_schema

JUDGES = (1, 3, 5)


def read_asked(wanted: PaperTable, options: Mapping[str, Any]) -> Asked:
    """Models and amounts.

    Raises:
        InvalidInput: a role that the table does not have, an unknown model, an impossible number.
    """
    seed_from_environment()
    ensure_builtin()
    bare: list[ModelSpec] = []
    by_role: dict[str, list[ModelSpec]] = {}
    for given in options["model"]:
        role, equals, name = given.partition("=")
        found = model_for_run((name if equals else role).strip())
        (by_role.setdefault(_role(wanted, role.strip()), []) if equals else bare).append(found)
    groups = [
        [model_for_run(name.strip()) for name in given.split(",")] for given in options["group"]
    ]
    if not (bare or by_role or groups):
        bare = default_models()
    return Asked(
        models=list({model.pk: model for model in bare}.values()),
        by_role=by_role,
        groups=groups,
        aspect=options["aspect"].strip(),
        replicates=_between("replicates", options["replicates"], 1, 20),
        judges=_one_of("judges", options["judges"], JUDGES),
        precedents=_precedents(options["precedents"]),
        rounds=options["rounds"],
        limit=_between("limit", options["limit"], 1, None),
        theta=_theta(options["theta"]),
    )


def _role(wanted: PaperTable, role: str) -> str:
    if role not in wanted.roles:
        known = ", ".join(wanted.roles) or "no roles; name models only"
        raise InvalidInput(f"model: {wanted.code} has no role '{role}'; it has {known}.")
    return role


def _between(name: str, number: int | None, low: int, high: int | None) -> int | None:
    if number is not None and (number < low or (high is not None and number > high)):
        raise InvalidInput(
            f"{name}: must be at least {low}" + (f", at most {high}." if high else ".")
        )
    return number


def _one_of(name: str, number: int, allowed: Sequence[int]) -> int:
    if number not in allowed:
        raise InvalidInput(f"{name}: must be one of {', '.join(map(str, allowed))}.")
    return number


def _theta(number: float) -> float:
    if not 0 <= number <= 1:
        raise InvalidInput("theta: must be between 0 and 1.")
    return number


def _precedents(text: str | None) -> Sequence[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part in {"0", "1", "2", "3"} for part in parts):
        raise InvalidInput(f"precedents: '{text}' is not a list of 0 to 3, such as 0,1,2,3.")
    return [int(part) for part in dict.fromkeys(parts)]


def read_choice(wanted: PaperTable, asked: Asked, options: Mapping[str, Any]) -> Choice:
    """How files are to be read.

    Raises:
        InvalidInput: a file that is named beside them cannot be read.
    """
    guideline, schema = options["guideline"], options["schema"]
    return Choice(
        task=options["task"],
        labels=[name.strip() for name in options["labels"].split(",") if name.strip()],
        schema=_schema(schema) if schema else None,
        text_columns=[name.strip() for name in options["text_column"].split(",") if name.strip()],
        id_column=options["id_column"],
        gold_column=options["gold_column"],
        guideline=_text(guideline) if guideline else "",
        only=asked.aspect if wanted.one_label else "",
        slug=options["project"],
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: cannot be read as text ({error}).") from None


def _schema(path: Path) -> Schema:
    try:
        return parse_schema(json.loads(_text(path)))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path}: is not JSON ({error}).") from None
