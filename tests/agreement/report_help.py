"""A small project with something to measure, and its report over REST."""

from typing import Any

from apps.accounts.roles import Role
from apps.projects.models import Project
from tests.factories.agreement import decide
from tests.factories.ledger import ABSTAINS, ledger
from tests.factories.projects import MOODS, ProjectFactory, member_api

G, B = "good", "bad"


def six_moods() -> Project:
    """Six items; crowd, experts, an author and a machine said something of them."""
    made = ProjectFactory.create(definition=MOODS, slug="moods", overlap=20)
    items, _ = ledger(
        made,
        {
            "llm:model-1": [G, G, B, B, G, G],
            "crowd:ann": [G, G, B, B, B, ABSTAINS],
            "crowd:bob": [G, B, B, G, B, G],
            "expert:eve": [G, G, B, B, G, B],
            "expert:fay": [G, G, B, G, G, B],
            "author:writer": [G, G, B, B, G, B],
        },
    )
    for item, value in zip(items, [G, G, B, B, G, B], strict=True):
        decide(item, value)
    return made


def get(project: Project, **query: Any) -> Any:
    """The report over REST."""
    return member_api(project, Role.VIEWER).get(
        f"/api/v1/projects/{project.slug}/agreement/", query
    )
