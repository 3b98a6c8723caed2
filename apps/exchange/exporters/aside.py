"""What reviewers left to others, as ledger rows that count for nothing."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid5

from apps.labels.models import Annotator, Label
from apps.projects.models import Project
from apps.reviews.models import Decision

NAMESPACE = UUID("4f0b9a52-53a3-4d4c-8f43-7f3f6f0f4c02")
#: The fields of such a row that are always the same.
NOTHING_SAID: dict[str, Any] = {
    "value": None,
    "abstained": False,
    "withdrawn": True,
    "rejected": False,
    "action": str(Label.Action.WITHDRAWN),
    "role": str(Label.Role.SKIP),
    "confidence": None,
    "rationale": "",
    "evidence": {},
    "seconds": None,
    "cost_nanousd": None,
    "shown": None,
    "proposed_from": None,
    "supersedes": None,
    "run": None,
    "replicate": 1,
}


def skips_of(
    project: Project, items: Sequence[tuple[int, str]], schema_version: int
) -> dict[int, list[dict[str, Any]]]:
    """Item → its reviewers' skips that stand, oldest first; ``items`` are (key, external id).

    They look like labels that were kept aside, as imported ones are: there is one kind of them.
    """
    named = dict(items)
    rows = Decision.objects.filter(
        item__in=list(named), action=Decision.Action.SKIP, undone_at__isnull=True
    ).order_by("pk")
    wanted = ("item_id", "reviewer_id", "reviewer__username", "comment", "created_at")
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    given = list(rows.values_list(*wanted))
    people = _annotators(project, {row[1] for row in given if row[1]}) if given else {}
    for item_id, user, name, comment, moment in given:
        kind, who = people.get(user, ("crowd", name or "somebody"))
        uid = uuid5(NAMESPACE, f"{named[item_id]} {kind} {who} {moment.isoformat()}")
        told = {"comment": comment} if comment else {}
        given_by = {"uid": str(uid), "annotator": who, "kind": kind}
        when = {"schema_version": schema_version, "created_at": moment.isoformat()}
        found[item_id].append(given_by | NOTHING_SAID | {"provenance": told} | when)
    return found


def _annotators(project: Project, users: set[int]) -> dict[int, tuple[str, str]]:
    known = Annotator.objects.filter(project=project, user__in=users).order_by("pk")
    return {user: (kind, name) for user, kind, name in known.values_list("user_id", "kind", "name")}
