"""``check_audit``: whether anybody changed the audit log around LabelHub."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from apps.common.audit import check_chain
from apps.common.commands import LabelhubCommand
from apps.common.models import AuditEntry


class Command(LabelhubCommand):
    """Verify the chain of the audit log and print its head."""

    help = (
        "Verify the chain of hashes of the audit log, and print its head. Fails (exit code 1) and "
        "names the first entry that does not fit. Note the head elsewhere and pass it next time: "
        "then a log that was cut short or rewritten fails too."
    )

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--head", default="", metavar="NUMBER:HASH", help="A head from an earlier check."
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Check it, and add what is not in the chain yet."""
        checked, head = check_chain(options["head"])
        waiting = AuditEntry.objects.filter(number=None).count()
        self.say(f"The audit log is unchanged: {checked:,} entries.")
        if waiting:
            self.say(f"{waiting:,} entries are not in the chain yet.")
        self.say(f"Head: {head}")
        return {"checked": checked, "waiting": waiting, "head": str(head)}
