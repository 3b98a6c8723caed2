"""Serve the product: HTTP, websockets and, without a broker, the worker."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from apps.dashboards.services import OPERATOR, known_password_works
from apps.llm.services import ensure_builtin, seed_from_environment
from labelhub.management.private import PrivateCommand
from labelhub.server import listen, serve


class Command(PrivateCommand):
    """``manage.py serve``."""

    help = "Serve LabelHub on one port; stop it with Ctrl+C."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        """Where to listen."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        """Serve until interrupted."""
        listener = listen(options["host"], options["port"])
        ensure_builtin()
        seed_from_environment()
        if known_password_works():
            self.stderr.write(
                "Everybody knows the demo's password, and with it its operator may do everything "
                f"here: run 'manage.py changepassword {OPERATOR}' or use another data folder."
            )
        serve(listener, announce=self._announce, warn=self.stderr.write)
        return {}

    def _announce(self, address: str) -> None:
        self.say(f"LabelHub listens on {address}")
        self.stdout.flush()
