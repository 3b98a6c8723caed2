"""``create_user USERNAME …``: an account, also as a member of a project."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from apps.accounts.roles import ReviewerKind, Role
from apps.accounts.services import create_user
from apps.common.commands import LabelhubCommand
from apps.projects.selectors import find_project
from apps.projects.services import set_member
from labelhub.core.errors import InvalidInput

ROLE_HELP = "Role in the project, by default reviewer. A manager may also create accounts."


class Command(LabelhubCommand):
    """Create an account and print its one-time password, alone on the last line."""

    help = "Create an account and print a one-time password."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", default="")
        parser.add_argument("--project", metavar="SLUG", help="Project to add the user to.")
        parser.add_argument("--role", choices=Role.values, help=ROLE_HELP)
        parser.add_argument(
            "--kind", choices=ReviewerKind.values, help="Annotator kind, by default crowd."
        )
        parser.add_argument("--superuser", action="store_true", help="Allow everything.")

    @transaction.atomic
    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        slug, role, kind = options["project"], options["role"], options["kind"]
        if slug is None and (role or kind):
            raise InvalidInput("--role and --kind apply to a project: add --project.")
        user, password = create_user(
            username=options["username"],
            email=options["email"],
            superuser=options["superuser"],
            makes_accounts=role == Role.MANAGER,
        )
        made: dict[str, Any] = {"username": user.username, "password": password}
        if slug is not None:
            role, kind = role or Role.REVIEWER, kind or ReviewerKind.CROWD
            set_member(project=find_project(slug), user=user, role=role, kind=kind, actor=None)
            made |= {"project": slug, "role": str(role), "kind": str(kind)}
        self.say(f"Account {user.username} is created. One-time password, not shown again:")
        self.say(password)
        return made
