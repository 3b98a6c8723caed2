"""``export_payout PUBLIC_KEY --output FILE``: what authors are to be paid, as CSV."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from apps.authors.selectors.authors import get_payout
from apps.authors.selectors.sites import find_site, money_words
from apps.authors.services.rewards import pay_out, payout_csv
from apps.common.commands import LabelhubCommand
from apps.common.files import write_atomically


class Command(LabelhubCommand):
    """Pay out everything that is due, each reward once, or write an earlier payout's file again."""

    help = "Collect due rewards into a payout and write it as CSV, for the host to pay."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("public_key", help="The site's key (pk_…).")
        parser.add_argument("--output", type=Path, required=True)
        parser.add_argument("--payout", type=int, help="Write this earlier payout again.")

    @transaction.atomic
    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Where the file cannot be written, nothing is paid out."""
        site = find_site(options["public_key"])
        number = options["payout"]
        payout = pay_out(site, None) if number is None else get_payout(site, number)
        write_atomically(options["output"], [payout_csv(payout).encode()])
        sum_of = money_words(payout.cents, site.currency)
        self.say(f"Payout {payout.pk} of {sum_of}, answers: {payout.rewards:,}.")
        self.say(f"Written to {options['output']}.")
        return {
            "id": payout.pk,
            "cents": payout.cents,
            "rewards": payout.rewards,
            "output": str(options["output"]),
        }
