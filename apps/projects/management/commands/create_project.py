"""``create_project SLUG --task … --labels …``."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from apps.accounts.selectors import get_user
from apps.common.commands import LabelhubCommand
from apps.projects.services import BLIND_SHARE, create_project
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import TASKS, Schema, parse_schema, schema_from_names, schema_from_studio


class Command(LabelhubCommand):
    """Make a project with its label schema."""

    help = "Make a project. Without --manager only operators (superusers) see it."

    def add_command_arguments(self, parser: CommandParser) -> None:
        """See ``--help``."""
        parser.add_argument("slug", help="Short name: letters, digits, hyphens.")
        parser.add_argument("--task", choices=list(TASKS))
        given = parser.add_mutually_exclusive_group()
        given.add_argument("--labels", help="Names, separated by commas.")
        given.add_argument(
            "--schema",
            type=Path,
            help="JSON file: {task, question, labels}; or Label Studio's configuration (.xml).",
        )
        parser.add_argument("--answer", default="", help="Which of that configuration's controls.")
        parser.add_argument("--guideline", type=Path, help="Text file for the annotators.")
        parser.add_argument("--overlap", type=int, default=1, help="People per item, 1 to 20.")
        parser.add_argument(
            "--blind-share",
            type=float,
            default=BLIND_SHARE,
            metavar="SHARE",
            help=f"Of the items, shown without any suggestion, 0 to 1; {BLIND_SHARE} by default.",
        )
        parser.add_argument("--name", help="By default the slug.")
        parser.add_argument("--manager", metavar="USERNAME", help="Who may change it.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Make it."""
        manager = get_user(options["manager"]) if options["manager"] else None
        guideline = options["guideline"]
        schema = _schema(options)
        project = create_project(
            actor=manager,
            slug=options["slug"],
            name=options["name"] or options["slug"],
            schema=schema,
            guideline=read_text(guideline) if guideline else "",
            overlap=options["overlap"],
            blind_share=options["blind_share"],
        )
        labels = ", ".join(schema.names) or "none of its own"
        self.say(f"Project {project.slug} is made: {schema.task}, labels: {labels}.")
        return {"slug": project.slug, "name": project.name, "schema": schema.to_json()}


def read_text(path: Path) -> str:
    """The file's text.

    Raises:
        InvalidInput: it is not there, cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: is not UTF-8 text.") from None


def _schema(options: dict[str, Any]) -> Schema:
    task = options["task"]
    if options["schema"] is None:
        if task is None:
            raise InvalidInput(
                "Say what is asked: --task single, multi, ordinal, text or per_item."
            )
        return schema_from_names(task, _names(options["labels"] or ""))
    if options["schema"].suffix.lower() == ".xml":
        return _same_task(schema_from_studio(read_text(options["schema"]), options["answer"]), task)
    definition = _json(options["schema"])
    if isinstance(definition, dict):
        definition.setdefault("task", task or "")
        if task and definition["task"] != task:
            raise InvalidInput(f"--task is {task}, but the file says {definition['task']}.")
    return parse_schema(definition)


def _same_task(schema: Schema, task: str | None) -> Schema:
    if task and schema.task.name != task:
        raise InvalidInput(f"--task is {task}, but the file asks for {schema.task}.")
    return schema


def _names(labels: str) -> list[str]:
    return [name for name in labels.split(",") if name.strip()]


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise InvalidInput(f"{path}: is not JSON ({error}).") from None
