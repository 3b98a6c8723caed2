"""The demo's site: a small shop whose visitors are asked about what they write, and a chat.

Its Echo is on: it has learnt from sample visitors what to ask, and recommends wares of the shop.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from apps.accounts.models import User
from apps.authors.models import Site
from apps.authors.services.sites import create_site, update_site
from apps.dashboards.demo_talk import talk_in_the_past
from apps.echo.models import Echo
from apps.echo.services.catalogue import import_catalogue
from apps.echo.services.configuration import switch_echo, update_echo
from apps.projects.models import Project
from apps.projects.services import create_project
from labelhub.core.interview.features import starter_library
from labelhub.core.schema import parse_schema

SLUG = "shop-talk"
NAME = "Corner shop"
GREETING = "Hello! Tell me what you are looking for. I match words; I am not a language model."
INSTRUCTIONS = (
    "You help visitors of a small outdoor and household shop that sells tents, lamps, backpacks, "
    "kettles, blankets and head torches. Recommend at most two things at a time."
)
#: Written for the demo, as its last column says.
CATALOGUE = Path(__file__).parent / "demo" / "shop_catalogue.csv"
#: And wants to see recommendations without writing for minutes.
OFTEN: Mapping[str, Any] = {"offer_every_messages": 1, "offer_min_seconds": 5, "reward_minutes": 5}
#: Whoever tries the demo wants to be asked at once, and more than once.
EAGER: Mapping[str, Any] = {
    "every_messages": 1,
    "min_seconds": 0,
    "per_conversation": 100,
    "per_day": 1000,
    "replies_anonymous": 300,
}


def prepare_demo_site(manager: User, origins: Sequence[str]) -> Site:
    """Make the project and its site once; ``origins`` are those at which this server is reached."""
    project = Project.objects.filter(slug=SLUG).first() or _project(manager)
    site = project.sites.filter(name=NAME).first() or _site(project, manager)
    known = [*site.allowed_origins, *origins]
    if set(known) != set(site.allowed_origins):
        update_site(site=site, allowed_origins=list(dict.fromkeys(known)))
    _prepare_echo(site)
    return site


def find_demo_site() -> Site | None:
    """The demo's site, where this is a demo."""
    return Site.objects.filter(project__slug=SLUG, name=NAME).first()


def _prepare_echo(site: Site) -> None:
    """Switch Echo on, once: who has switched it off in the demo finds it so."""
    if Echo.objects.filter(site=site).exists():
        return
    echo = switch_echo(site, on=True)
    import_catalogue(echo, CATALOGUE.read_bytes())
    # The offline model is asked, which costs nothing.
    update_echo(echo, offers_on=True, search_on=True, **OFTEN)
    talk_in_the_past(echo)


def _project(manager: User) -> Project:
    return create_project(
        actor=manager,
        slug=SLUG,
        name="Shop talk",
        description="What do visitors of a shop mean by what they write? They are asked.",
        schema=parse_schema({"task": "per_item", "question": "", "labels": []}),
        blind_share=0,  # a tour: every item shows what it can show
    )


def _site(project: Project, manager: User) -> Site:
    return create_site(
        project=project,
        actor=manager,
        name=NAME,
        features=starter_library()["shopping"],
        languages=["en", "de", "es", "fr", "ja"],
        chat_title="Corner shop",
        chat_greeting=GREETING,
        chat_instructions=INSTRUCTIONS,
        **EAGER,
    )
