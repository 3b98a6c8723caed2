"""``create_site SLUG NAME --origin URL --features shopping``: a site and its snippet."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.urls import reverse

from apps.authors.models import Site, SiteKey
from apps.authors.services.features import starter_set
from apps.authors.services.sites import add_key, create_site
from apps.authors.snippets import snippet
from apps.authors.translations import LANGUAGES
from apps.common.commands import LabelhubCommand
from apps.projects.selectors import find_project

ORIGIN_HELP = "Pages that may embed the site, such as https://shop.example.org."
URL_HELP = "This server's address, for the snippet."


class Command(LabelhubCommand):
    """Create a site; prints its key and snippet, and new secrets once."""

    help = "Create a site that asks authors, in a project of task per_item."

    def add_command_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", help="The project.")
        parser.add_argument("name", help="Name shown to authors.")
        parser.add_argument("--origin", nargs="+", default=[], metavar="URL", help=ORIGIN_HELP)
        parser.add_argument("--features", default="shopping", help="A set of the starter library.")
        parser.add_argument("--language", nargs="+", default=["en"], help=", ".join(LANGUAGES))
        who = parser.add_mutually_exclusive_group()
        who.add_argument("--anonymous", action="store_true", help="Ask everybody (the default).")
        who.add_argument("--verified", action="store_true", help="Ask signed-in users only.")
        parser.add_argument(
            "--host-consent", action="store_true", help="The host asks for consent, not the widget."
        )
        parser.add_argument("--server-key", action="store_true", help="Also create a server key.")
        parser.add_argument(
            "--signing-secret", action="store_true", help="Also create a signing secret."
        )
        parser.add_argument("--url", default="http://127.0.0.1:8000", help=URL_HELP)

    @transaction.atomic
    def run(self, options: dict[str, Any]) -> Mapping[str, Any]:
        site = create_site(
            project=find_project(options["slug"]),
            actor=None,
            name=options["name"],
            features=starter_set(options["features"]),
            allowed_origins=options["origin"],
            languages=options["language"],
            identity=Site.Identity.VERIFIED if options["verified"] else Site.Identity.ANONYMOUS,
            consent_by=(Site.ConsentBy.HOST if options["host_consent"] else Site.ConsentBy.WIDGET),
        )
        made: dict[str, Any] = {
            "public_key": site.public_key,
            "name": site.name,
            "project": site.project.slug,
            "snippet": snippet(site, f"{options['url'].rstrip('/')}{reverse('widget_script')}"),
        }
        self.say(f"The site “{site.name}” is made. Its key: {site.public_key}")
        self.say(made["snippet"])
        if options["signing_secret"]:
            made["signing_secret"] = self._secret(site, SiteKey.Purpose.SIGN, "Signing secret")
        if options["server_key"]:
            made["server_key"] = self._secret(site, SiteKey.Purpose.SERVER, "Server key")
        return made

    def _secret(self, site: Site, purpose: str, title: str) -> dict[str, str]:
        key, plain = add_key(site=site, purpose=purpose, actor=None)
        self.say(f"{title} (kid {key.kid}); it is not shown again:")
        self.say(plain)
        return {"kid": key.kid, "secret": plain}
