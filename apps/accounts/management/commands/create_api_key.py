"""``create_api_key USERNAME``: an API key for programs."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from apps.accounts.models import ApiKey
from apps.accounts.selectors import get_user
from apps.accounts.services import create_api_key
from apps.common.commands import LabelhubCommand


class Command(LabelhubCommand):
    """Create an API key and print it once, alone on the last line."""

    help = "Create an API key for a user and print it once, alone on the last line."

    def add_command_arguments(self, parser: CommandParser) -> None:
        """See ``--help``."""
        parser.add_argument("username")
        parser.add_argument("--scope", choices=ApiKey.Scope.values, default=ApiKey.Scope.WRITE)
        parser.add_argument("--name", default="command line", help="To recognise it later.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Create it."""
        user = get_user(options["username"])
        key, plain = create_api_key(user=user, name=options["name"], scope=options["scope"])
        self.say(f"Key “{key.name}” of {user.username} ({key.scope}); it is not shown again:")
        self.say(plain)
        return {"key": plain, "username": user.username, "scope": key.scope, "name": key.name}
