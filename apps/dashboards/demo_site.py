"""The demo's site: a small shop whose visitors are asked about what they write, and a chat."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.accounts.models import User
from apps.authors.models import Site
from apps.authors.services.sites import create_site, update_site
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
#: Whoever tries the demo wants to be asked at once, and more than once.
EAGER: Mapping[str, Any] = {
    "every_messages": 1,
    "min_seconds": 0,
    "per_conversation": 100,
    "per_day": 1000,
}


def prepare_demo_site(manager: User, origins: Sequence[str]) -> Site:
    """Make the project and its site once; ``origins`` are those at which this server is reached."""
    project = Project.objects.filter(slug=SLUG).first() or _project(manager)
    site = project.sites.filter(name=NAME).first() or _site(project, manager)
    known = [*site.allowed_origins, *origins]
    if set(known) != set(site.allowed_origins):
        update_site(site=site, allowed_origins=list(dict.fromkeys(known)))
    return site


def find_demo_site() -> Site | None:
    """The demo's site, where this is a demo."""
    return Site.objects.filter(project__slug=SLUG, name=NAME).first()


def _project(manager: User) -> Project:
    return create_project(
        actor=manager,
        slug=SLUG,
        name="Shop talk",
        description="What do visitors of a shop mean by what they write? They are asked.",
        schema=parse_schema({"task": "per_item", "question": "", "labels": []}),
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
