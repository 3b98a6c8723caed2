"""``export_user USERNAME``: everything that is stored about a user, as JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from apps.accounts.selectors import get_user
from apps.common.audit import Action, record
from apps.common.commands import LabelhubCommand
from apps.dashboards.personal_data import user_data


class Command(LabelhubCommand):
    """Write a user's data to a file that only its owner may read, or print it."""

    help = "Write everything that is stored about a user as JSON, to answer a data request."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--output", type=Path, help="A file; by default it is printed.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Write it."""
        user = get_user(options["username"])
        with transaction.atomic():
            record(Action.USER_EXPORTED, user)
        data = user_data(user)
        text = json.dumps(data, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)
        if options["output"] is None:
            self.say(text)
            return data
        options["output"].touch(mode=0o600)
        options["output"].write_text(f"{text}\n", "utf-8")
        self.say(f"Written to {options['output']}")
        return {"output": str(options["output"])}
