"""Queries about debates and their turns."""

from collections.abc import Iterator

from django.contrib.auth.models import AnonymousUser
from django.db.models import (
    Prefetch,
    QuerySet,
)

from apps.accounts.models import User
from apps.debates.models import Debate, DebateQuerySet, Run, Turn
from apps.projects.models import Project
from labelhub.core.errors import NotFound

#: Columns of turns that only the page of their calls shows.
_LONG = ("messages", "params_asked", "params_effective", "reasoning")
#: Debates per query when all debates of a run are read.
CHUNK = 20


def debates_of(run: Run, user: User | AnonymousUser | None = None) -> DebateQuerySet:
    """The run's debates that ``user`` may see, by item, with item, gold and label."""
    shown = ("item__state__gold", "label")
    debates = Debate.objects.filter(run=run).select_related(*shown).order_by("pk")
    return debates if user is None else debates.open_to(user)


def debate_with_turns(project: Project, debate_id: int, user: User | AnonymousUser) -> Debate:
    """One debate of ``project`` with the data of its page, in two queries.

    ``calls_of`` reads the long columns: the messages to models and their thinking.

    Raises:
        NotFound: no such debate there.
    """
    debates = Debate.objects.filter(run__project=project).open_to(user)
    return _with_turns(debates, debate_id, without=_LONG)


def calls_of(
    project: Project, debate_id: int, user: User | AnonymousUser, turn_id: int | None = None
) -> Debate:
    """One debate of ``project`` with all, or one, of its turns complete.

    Raises:
        NotFound: no such debate there, or no such turn in it.
    """
    debates = Debate.objects.filter(run__project=project).open_to(user)
    debate = _with_turns(debates, debate_id, turn_id=turn_id)
    if turn_id is not None and not debate.turns.all():
        raise NotFound("There is no call %(turn_id)s in this debate.", turn_id=str(turn_id))
    return debate


def visible_debate(user: User | AnonymousUser, debate_id: int) -> Debate:
    """One debate of any project that ``user`` may see, with its turns.

    Raises:
        NotFound: no such debate for this person.
    """
    return _with_turns(Debate.objects.visible_to(user).open_to(user), debate_id)


def all_with_turns(run: Run, user: User | AnonymousUser | None = None) -> Iterator[Debate]:
    """The run's debates with all of their turns, in bounded memory; two queries per 20.

    By id, so that no cursor stays open during a slow download.
    """
    debates = debates_of(run, user).prefetch_related(Prefetch("turns", queryset=_turns()))
    after = 0
    while chunk := list(debates.filter(pk__gt=after)[:CHUNK]):
        yield from chunk
        after = chunk[-1].pk


def _turns() -> QuerySet[Turn]:
    return (
        Turn.objects.select_related("model__provider", "prompt")
        .defer("prompt__body")
        .order_by("pk")
    )


def _with_turns(
    debates: DebateQuerySet,
    debate_id: int,
    *,
    without: tuple[str, ...] = (),
    turn_id: int | None = None,
) -> Debate:
    turns = _turns().defer(*without)
    if turn_id is not None:
        turns = turns.filter(pk=turn_id)
    debate = (
        debates.filter(pk=debate_id)
        .select_related("run__schema", "item__state__gold", "label__annotator")
        .prefetch_related(Prefetch("turns", queryset=turns))
        .first()
    )
    if debate is None:
        raise NotFound(
            "There is no debate %(debate_id)s that you may see. If its item is in your queue, "
            "label it first: annotators of some items may not see the debate before they "
            "answer.",
            debate_id=str(debate_id),
        )
    return debate
