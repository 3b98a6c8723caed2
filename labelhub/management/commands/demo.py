"""``demo``: a ready project to try."""

import ipaddress
import secrets
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from apps.dashboards.services import DESK_SLUG, PASSWORD, SLUG, Login, prepare_demo
from apps.llm.services import seed_from_environment
from labelhub.management.private import PrivateCommand
from labelhub.server import address_of, listen, serve


class Command(PrivateCommand):
    """Create the demo project and serve it."""

    help = "Create the demo project (once) and serve it on this machine."

    def add_command_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-serve", action="store_true", help="Only create the project.")

    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        host, port = options["host"], options["port"]
        listener = None if options["no_serve"] else listen(host, port)
        address = address_of(listener) if listener else f"http://{host}:{port}"
        seed_from_environment()
        password = PASSWORD if is_loopback(host) else secrets.token_urlsafe(9)
        logins = prepare_demo(password, browser_origins(address))
        if listener is None:
            self._introduce(address, logins)
        else:
            serve(
                listener,
                announce=lambda found: self._introduce(found, logins),
                warn=self.stderr.write,
            )
        return {
            "address": address,
            "project": f"{address}/p/{SLUG}/",
            "agreement": f"{address}/p/{DESK_SLUG}/agreement/",
            "shop": f"{address}/demo/shop/",
            "chat": f"{address}/demo/chat/",
            "logins": [
                {"username": login.username, "password": login.password} for login in logins
            ],
        }

    def _introduce(self, address: str, logins: tuple[Login, ...]) -> None:
        self.say(f"\nLabelHub demo   {address}/")
        self.say(f"  project       {address}/p/{SLUG}/")
        self.say(f"  review        {address}/p/{SLUG}/review/")
        self.say(f"  agreement     {address}/p/{DESK_SLUG}/agreement/   (how far to trust whom)")
        self.say(f"  a shop        {address}/demo/shop/   (asks questions about your messages)")
        self.say(f"  a chat        {address}/demo/chat/")
        self.say(f"  REST docs     {address}/api/docs/   (ReDoc: /api/docs/redoc/)\n")
        for login in logins:
            self.say(
                f"  sign in as    {login.username:10} password {login.password}   ({login.role})"
            )
        self.say("\nStop with Ctrl+C; your changes are kept.")
        self.stdout.flush()


def browser_origins(address: str) -> list[str]:
    parts = urlsplit(address)
    hosts = ["127.0.0.1", "localhost"] if is_loopback(parts.hostname or "") else []
    return list(dict.fromkeys([address, *(f"http://{host}:{parts.port}" for host in hosts)]))


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
