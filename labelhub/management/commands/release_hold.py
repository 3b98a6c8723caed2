"""``release_hold``: let a restored server start its runs, webhooks, mails and schedules."""

from collections.abc import Mapping
from typing import Any

from apps.common.commands import LabelhubCommand
from apps.common.holds import release_hold


class Command(LabelhubCommand):
    help = "Let a restored server start its runs, webhooks, mails and schedules."

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        released = release_hold()
        self.say("Released." if released else "This server was not held.")
        return {"released": released}
