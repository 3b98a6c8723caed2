"""``rebuild_echo PUBLIC_KEY``: rebuild the state of a site's Echo from its log."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from apps.authors.selectors.sites import find_site
from apps.common.commands import LabelhubCommand
from apps.echo.selectors.learning import get_echo
from apps.echo.services.learning import rebuild_state


class Command(LabelhubCommand):
    """``manage.py rebuild_echo``."""

    help = "Rebuild the state of a site's Echo from its log, and report whether it was equal."

    def add_command_arguments(self, parser: CommandParser) -> None:
        """Add the site's key."""
        parser.add_argument("public_key", help="The site's key, from its snippet.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Rebuild and compare."""
        echo = get_echo(find_site(options["public_key"]))
        same = rebuild_state(echo)
        self.say(f"Rebuilt from {echo.learnt:,} event{'' if echo.learnt == 1 else 's'}.")
        self.say("The stored state was equal." if same else "The stored state was different.")
        return {"learnt": echo.learnt, "same": same}
