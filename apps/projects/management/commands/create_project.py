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
    """Create a project with its label schema."""

    help = "Create a project. Without --manager only operators (superusers) see it."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="Short name: letters, digits, hyphens.")
        parser.add_argument("--task", choices=list(TASKS))
        given = parser.add_mutually_exclusive_group()
        given.add_argument("--labels", help="Names, separated by commas.")
        given.add_argument(
            "--schema",
            type=Path,
            help="JSON file: {task, question, labels}; or Label Studio's configuration (.xml).",
        )
        parser.add_argument("--answer", default="", help="Name of the control to use in it.")
        parser.add_argument("--guideline", type=Path, help="Text file for the annotators.")
        parser.add_argument("--overlap", type=int, default=1, help="Annotators per item, 1 to 20.")
        parser.add_argument(
            "--blind-share",
            type=float,
            default=BLIND_SHARE,
            metavar="SHARE",
            help="Share of items shown without suggestion, 0 to 1; %(default)s by default.",
        )
        parser.add_argument("--name", help="By default the slug.")
        parser.add_argument("--manager", metavar="USERNAME", help="User who manages it.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        manager = get_user(options["manager"]) if options["manager"] else None
        guideline = options["guideline"]
        schema = _read_schema(options)
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
        self.say(f"Project {project.slug} is created: {schema.task}, labels: {labels}.")
        return {"slug": project.slug, "name": project.name, "schema": schema.to_json()}


def read_text(path: Path) -> str:
    """The file's text.

    Raises:
        InvalidInput: it cannot be read or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"{path}: is not UTF-8 text.") from None


def _read_schema(options: dict[str, Any]) -> Schema:
    task, path = options["task"], options["schema"]
    if path is None:
        if task is None:
            raise InvalidInput(f"Choose a label type: --task {', '.join(TASKS)}.")
        labels = (options["labels"] or "").split(",")
        return schema_from_names(task, [name for name in labels if name.strip()])
    text = read_text(path)
    if path.suffix.lower() == ".xml":
        schema = schema_from_studio(text, options["answer"])
    else:
        try:
            definition = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidInput(f"{path}: is not JSON ({error}).") from None
        if isinstance(definition, dict):
            definition.setdefault("task", task or "")
        schema = parse_schema(definition)
    if task and schema.task.name != task:
        raise InvalidInput(f"--task is {task}, but the file asks for {schema.task}.")
    return schema
