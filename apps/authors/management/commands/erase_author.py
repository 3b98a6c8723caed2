"""``erase_author PUBLIC_KEY --subject ID``: delete everything of an author."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from apps.authors.selectors.authors import find_author, get_author
from apps.authors.selectors.sites import find_site
from apps.authors.services.privacy import erase_author
from apps.common.commands import LabelhubCommand
from labelhub.core.errors import InvalidInput


class Command(LabelhubCommand):
    """Delete what an author wrote and answered, and every label of it; prints the receipt."""

    help = "Delete all data of an author for good, and print a receipt."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("public_key", help="The site's key (pk_…).")
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("--subject", help="The host's id of the author.")
        who.add_argument("--uid", help="LabelHub's id of the author.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        site = find_site(options["public_key"])
        if options["subject"] is not None:
            author = find_author(site, options["subject"])
        else:
            try:
                author = get_author(site, UUID(options["uid"]))
            except ValueError:
                raise InvalidInput(f"--uid: '{options['uid']}' is not an author's id.") from None
        erasure = erase_author(author)
        counts = ", ".join(f"{count:,} {kind}" for kind, count in erasure.removed.items())
        self.say(f"Deleted: {counts}. Receipt: {erasure.receipt}")
        return {"receipt": str(erasure.receipt), "removed": erasure.removed}
