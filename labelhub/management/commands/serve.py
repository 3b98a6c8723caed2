"""``serve``: HTTP, websockets and, without Redis, the worker."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import connection

from apps.common.holds import held_since
from apps.dashboards.services import OPERATOR, known_password_works
from apps.llm.services import ensure_builtin, seed_from_environment
from labelhub import COMMAND
from labelhub.core.errors import InvalidInput
from labelhub.management.private import PrivateCommand
from labelhub.server import listen, serve


class Command(PrivateCommand):
    help = "Serve LabelHub on one port; stop it with Ctrl+C."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--workers",
            type=int,
            default=1,
            help="Web processes; more than one needs PostgreSQL and Redis.",
        )

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        workers = options["workers"]
        alone = settings.LABELHUB_EMBEDDED_WORKER or connection.vendor == "sqlite"
        if workers < 1:
            raise InvalidInput("--workers is at least 1.")
        if workers > 1 and alone:
            raise InvalidInput(
                "--workers above 1 needs PostgreSQL and Redis: set DATABASE_URL and REDIS_URL."
            )
        listener = listen(options["host"], options["port"])
        ensure_builtin()
        seed_from_environment()
        if known_password_works():
            self.stderr.write(
                f"The operator {OPERATOR} still has the public password of the demo: run "
                f"'{COMMAND} changepassword {OPERATOR}' or use another data folder."
            )
        if since := held_since():
            self.stderr.write(
                f"This server was restored and is held since {since:%Y-%m-%d %H:%M} UTC: no run, "
                f"webhook, mail or schedule starts before '{COMMAND} release_hold'."
            )
        serve(listener, announce=self._announce, warn=self.stderr.write, processes=workers)
        return {}

    def _announce(self, address: str) -> None:
        self.say(f"LabelHub listens on {address}")
        self.stdout.flush()
