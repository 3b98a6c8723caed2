"""``create_api_key USERNAME``: an API key for programs."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from apps.accounts.models import ApiKey
from apps.accounts.roles import Right
from apps.accounts.selectors import get_user
from apps.accounts.services import MOST_DAYS, create_api_key
from apps.common.commands import LabelhubCommand
from apps.projects.selectors import get_project
from labelhub.core.errors import InvalidInput


class Command(LabelhubCommand):
    """Create an API key and print it once, alone on the last line."""

    help = "Create an API key for a user and print it once, alone on the last line."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--scope", choices=ApiKey.Scope.values, default=ApiKey.Scope.WRITE)
        parser.add_argument("--name", default="command line", help="To recognise it later.")
        parser.add_argument("--expires", metavar="DAYS", type=int, help="By default never.")
        parser.add_argument("--project", metavar="SLUG", help="The only project that it opens.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Create it."""
        user = get_user(options["username"])
        slug, days = options["project"], options["expires"]
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise InvalidInput(f"--expires: a number of days from 1 to {MOST_DAYS}.")
        key, plain = create_api_key(
            user=user,
            name=options["name"],
            scope=options["scope"],
            expires_at=timezone.now() + timedelta(days=days) if days else None,
            project_id=get_project(user, slug, Right.VIEW).pk if slug else None,
        )
        self.say(f"Key “{key.name}” of {user.username} ({key.scope}); it is not shown again:")
        self.say(plain)
        return {
            "key": plain,
            "username": user.username,
            "scope": key.scope,
            "name": key.name,
            "project": slug,
            "expires_at": key.expires_at and key.expires_at.isoformat(),
        }
