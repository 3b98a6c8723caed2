"""``worker``: carries out runs, imports and other jobs beside the servers; needs Redis."""

import os
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from apps.common.commands import prepare_database
from apps.common.queues import QUEUES
from labelhub.celery import app
from labelhub.core.errors import InvalidInput
from labelhub.management.private import PrivateCommand


class Command(PrivateCommand):
    needs_database = False  # prepared below, once the rest is in order
    help = "Carry out runs, imports and other jobs; stop it with Ctrl+C."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--concurrency", type=int, default=8, help="Jobs at the same time, beside runs."
        )
        parser.add_argument(
            "--queues", default="", help="Of interactive, runs and heavy, by commas; default all."
        )
        parser.add_argument("--loglevel", default="INFO")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        if settings.LABELHUB_EMBEDDED_WORKER:
            raise InvalidInput("Set REDIS_URL; without it the server has its own worker.")
        queues = options["queues"].split(",") if options["queues"] else settings.LABELHUB_QUEUES
        if set(queues) - set(QUEUES):
            raise InvalidInput(f"--queues takes some of {', '.join(QUEUES)}, separated by commas.")
        prepare_database()
        app.worker_main(
            [
                "--quiet",  # its banner is no log line
                "worker",
                "--pool=threads",
                f"--concurrency={options['concurrency']}",
                f"--queues={','.join(queues)}",
                f"--loglevel={options['loglevel']}",
                f"--hostname=worker-{os.getpid()}@%h",  # several run on one machine
            ]
        )
        return {}
