"""What an author's word is worth changes: what was learnt from it is withdrawn, or restored.

An event is withdrawn when its answer stands no more or its author is not believed any more, and
restored when that is over.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from apps.authors.models import Answer, Author
from apps.authors.querysets import counting_authors
from apps.echo.models import Echo, LogEvent, Scored
from apps.echo.services.answer_events import ANSWER, told_answers
from apps.echo.services.logging import log
from labelhub.core.echo.events import Restored, Withdrawn

#: Events that are withdrawn or restored at once.
AT_ONCE = 200
_NOT_WITHDRAWN = Q(word__isnull=True) | ~Q(word=LogEvent.Kind.WITHDRAWN)


def fallen_answers() -> QuerySet[Any, Any]:
    """Answers at all sites that a log counts and that stand no more."""
    told = LogEvent.objects.filter(
        echo=OuterRef("question__site"), ref=OuterRef("told_as"), kind=LogEvent.Kind.ANSWERED
    )
    # Two lists for the database to look up, not one condition on every answer there is.
    excluded = Answer.objects.filter(excluded_at__isnull=False).values("pk")
    undone = Answer.objects.filter(undone_at__isnull=False).values("pk")
    word = _last_word("question__site", "told_as")
    fallen = told_answers().filter(Q(pk__in=excluded) | Q(pk__in=undone), Exists(told))
    counting: QuerySet[Any, Any] = fallen.annotate(word=word).filter(_NOT_WITHDRAWN)
    return counting


def doubtful_rewards() -> QuerySet[Any, Any]:
    """Events at all sites that count as rewards of authors who are not believed any more."""
    doubted = Author.objects.exclude(counting_authors()).values("pk")
    rewards = LogEvent.objects.filter(
        author__in=doubted, kind=LogEvent.Kind.REWARDED, data__trusted=True
    )
    return rewards.annotate(word=_last_word("echo", "ref")).filter(_NOT_WITHDRAWN)


def withdrawn_of_believed() -> QuerySet[LogEvent]:
    """Withdrawals at all sites that are the last word about an event whose author is believed."""
    later = LogEvent.objects.filter(
        echo=OuterRef("echo"), about=OuterRef("about"), number__gt=OuterRef("number")
    )
    withdrawn = LogEvent.objects.filter(kind=LogEvent.Kind.WITHDRAWN)
    return withdrawn.filter(counting_authors("author"), ~Exists(later))


@transaction.atomic
def withdraw_fallen(echo: Echo) -> int:
    """Withdraw what was told of answers that stand no more or of who is not believed; how many."""
    answers = fallen_answers().filter(question__site=echo.site_id)
    refs = list(answers.values_list("told_as", "author")[:AT_ONCE])
    rewards = doubtful_rewards().filter(echo=echo)
    refs += list(rewards.values_list("ref", "author")[:AT_ONCE])
    _let_stand(echo, [ref for ref, _ in refs], stands=False)
    return log(
        echo, [(Withdrawn(f"withdrawn-{uuid.uuid4().hex}", ref), author) for ref, author in refs]
    )


@transaction.atomic
def restore_standing(echo: Echo) -> int:
    """Restore what had been withdrawn of authors who are believed again; how many."""
    told = dict(withdrawn_of_believed().filter(echo=echo).values_list("about", "author"))
    answers = [int(ref.removeprefix(ANSWER)) for ref in told if ref.startswith(ANSWER)]
    standing = Answer.objects.filter(pk__in=answers, excluded_at__isnull=True).standing()
    stands = {f"{ANSWER}{pk}" for pk in standing.values_list("pk", flat=True)}
    refs = [ref for ref in told if ref in stands or not ref.startswith(ANSWER)][:AT_ONCE]
    _let_stand(echo, refs, stands=True)
    return log(echo, [(Restored(f"restored-{uuid.uuid4().hex}", ref), told[ref]) for ref in refs])


def _let_stand(echo: Echo, refs: Sequence[str], *, stands: bool) -> None:
    """Whether the page counts the predictions beside these answers."""
    Scored.objects.filter(echo=echo, event__ref__in=refs).update(stands=stands)


def _last_word(echo: str, ref: str) -> Subquery:
    """Whether the event of that name was withdrawn or restored last; null where neither."""
    words = LogEvent.objects.filter(echo=OuterRef(echo), about=OuterRef(ref))
    return Subquery(words.order_by("-number").values("kind")[:1])
