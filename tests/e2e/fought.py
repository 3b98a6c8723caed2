"""Projects in which people disagree: what an expert is asked about."""

from collections.abc import Sequence
from typing import Any

from tests.e2e.server import Server

TEXT = (
    "What a charming idea to wake the guests at six with the rubbish trucks. Breakfast was cold, "
    "but the view made us forget most of it."
)


def fought(
    server: Server, slug: str, schema: Any, sides: Sequence[Any], size: int = 1, repeats: int = 1
) -> list[int]:
    """A project of ``size`` texts, each :data:`TEXT` so many times, of which somebody says
    ``sides[0]`` and the manager, an expert, ``sides[1]``; its items."""
    plan = {"slug": slug, "name": slug, "schema": schema, "overlap": 2}
    server.api("POST", "projects/", plan)
    who = {"username": "reviewer", "role": "reviewer", "kind": "crowd"}
    server.api("POST", f"projects/{slug}/members/", who)
    theirs = [{"annotator": "ana", "kind": "crowd", "value": sides[0]}]
    rows = [{"id": f"{slug}-{n}", "text": TEXT * repeats, "labels": theirs} for n in range(size)]
    server.api("POST", f"projects/{slug}/import/", rows)
    items = [row["id"] for row in server.api("GET", f"projects/{slug}/items/")["results"]]
    for item in items:
        mine = {"item": item, "value": sides[1], "comment": "Is it irony?"}
        server.api("POST", f"projects/{slug}/labels/", mine)
    comment = {"item": items[0], "text": "@reviewer, @manager: does irony count?"}
    server.api("POST", f"projects/{slug}/comments/", comment)
    return items


def prepare_fought(server: Server, moods: Any) -> dict[str, Any]:
    """One project of single labels, one of sets; the ids for addresses."""
    demo = server.api("GET", "projects/hotel-reviews/")["schema"]
    first, second = (label["name"] for label in demo["labels"][:2])
    single = fought(server, "fought-moods", moods, ["negative", "positive"], size=2)
    sets = fought(server, "fought-sets", demo, [[first], [first, second]])
    return {"fought": "fought-moods", "fought_item": single[0], "fought_set": sets[0]}
