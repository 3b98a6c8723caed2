"""``erase_user USERNAME``: delete a user's personal data; their labels stay."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from apps.accounts.selectors import get_user
from apps.common.commands import LabelhubCommand
from apps.dashboards.personal_data import erase_user
from labelhub.core.errors import InvalidInput


class Command(LabelhubCommand):
    """Empty an account and name it by a pseudonym."""

    help = "Delete the personal data of a user for good; labels stay, under a pseudonym."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument(
            "--confirm", metavar="USERNAME", default="", help="The user name once more."
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Erase it."""
        user = get_user(options["username"])
        if options["confirm"] != user.username:
            raise InvalidInput(
                "This cannot be undone: repeat the user name, as in --confirm %(name)s.",
                name=user.username,
            )
        pseudonym = erase_user(user)
        self.say(f"Erased; the labels are by {pseudonym} now.")
        return {"pseudonym": pseudonym}
