"""A project whose agreement page says something, and what a member gets at its addresses."""

from typing import Any

from apps.accounts.roles import Role
from apps.projects.models import Project
from tests.factories.ledger import ledger
from tests.factories.projects import MOODS, ProjectFactory, member_browser

G, B = "good", "bad"
TRUE = [G, B] * 20


def wrong_every(step: int) -> list[str]:
    """What somebody says who is wrong on every ``step``-th item."""
    other = {G: B, B: G}
    return [value if number % step else other[value] for number, value in enumerate(TRUE)]


def moods() -> Project:
    """Forty items with their author's answer; experts better than the crowd, a machine worst."""
    made = ProjectFactory.create(definition=MOODS, slug="moods", overlap=20)
    ledger(
        made,
        {
            "llm:model-1": wrong_every(2),
            "crowd:ann": wrong_every(4),
            "crowd:bob": wrong_every(5),
            "crowd:cid": wrong_every(3),
            "expert:eve": wrong_every(20),
            "expert:fay": wrong_every(10),
            "author:writer": TRUE,
        },
    )
    return made


def page(project: Project, address: str = "", role: Role = Role.VIEWER, /, **query: str) -> Any:
    """What a member gets at an address below the page."""
    return member_browser(project, role).get(f"/p/{project.slug}/agreement/{address}", query)
