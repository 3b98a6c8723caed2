"""The debate behind a suggestion, small enough to read beside the text."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch, Q

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.debates.models import Debate, Turn
from apps.labels.blindness import unanswered
from apps.labels.models import ItemState
from apps.projects.models import Project
from apps.projects.selectors import role_in
from apps.reviews.selectors.arms import is_blind_for
from labelhub.core.schema import value_key


def must_wait(user: User, project: Project, item_id: int) -> bool:
    """Whether ``user`` may not see the item's debate yet: it is audited or was drawn to be labelled
    without, and they say nothing of it so far. One query."""
    states = ItemState.objects.filter(project=project, item=item_id)
    state = states.filter(unanswered(user.pk, item="item_id")).first()
    return state is not None and is_blind_for(user.pk, project, state)


def may_read_whole(user: User, project: Project, item_id: int) -> bool:
    """Whether to lead ``user`` to the debate's own page: no reviewer before they have answered, as
    that of an item whose answer is known is kept from them, and they could tell by it. One query,
    or two."""
    if role_in(user, project) != Role.REVIEWER:
        return True
    states = ItemState.objects.filter(project=project, item=item_id)
    return not states.filter(unanswered(user.pk, item="item_id")).exists()


@dataclass(frozen=True, slots=True)
class DebateSide:
    """One of the answers that were argued for: by how many turns, and the best said for it."""

    value: Any
    turns: int
    best: Turn


def sides_of(debate: Debate) -> list[DebateSide]:
    """The answers for which something was said, the most supported first.

    The best argument of a side is its turn with the most quoted evidence, the later one of equals:
    it has heard the others.
    """
    said: dict[str, list[Turn]] = defaultdict(list)
    for turn in debate.turns.all():
        if turn.status == "ok" and turn.value is not None and turn.text.strip():
            said[value_key(turn.value)].append(turn)
    sides = [
        DebateSide(
            turns[0].value, len(turns), max(turns, key=lambda turn: (_quotes(turn), turn.pk))
        )
        for turns in said.values()
    ]
    return sorted(sides, key=lambda side: -side.turns)


def _quotes(turn: Turn) -> int:
    quoted = turn.evidence if isinstance(turn.evidence, dict) else {}
    return sum(len(phrases) for phrases in quoted.values() if isinstance(phrases, list))


def debate_behind(project: Project, item_id: int) -> Debate | None:
    """The debate that led to the item's suggestion, or the latest that ended without one.

    With its run, turns and their models, in three queries. None when the item was never debated.
    """
    suggested = ItemState.objects.filter(project=project, item=item_id).values("suggestion")[:1]
    turns = Turn.objects.select_related("model__provider").order_by("pk")
    ended = ~Q(status=Debate.Status.WAITING)
    debates = (
        Debate.objects.filter(ended, run__project=project, item=item_id)
        .select_related("run", "label")
        .prefetch_related(Prefetch("turns", queryset=turns))
    )
    carried = Q(label__superseded_by__in=suggested, label__superseded_by__change__isnull=False)
    return (
        debates.filter(Q(label__in=suggested) | carried).first() or debates.order_by("-pk").first()
    )
