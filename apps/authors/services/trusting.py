"""Whom to believe: several weak signals, judged together, and a manager's ruling over them."""

import logging

from django.db import transaction
from django.utils import timezone

from apps.authors.models import Answer, Author, Reward
from apps.authors.refusals import Erased
from apps.authors.services.carried import WHY, distrusted_before
from apps.authors.services.evidence import evidence_of
from apps.authors.services.ledger import bring_into_line
from apps.authors.services.locking import begun_again, lock_author
from apps.authors.services.rewarding import restore, void
from apps.labels.models import ItemState
from labelhub.core.interview.trust import Trust, judge_trust

logger = logging.getLogger(__name__)

#: Authors, and answers of one author, that are worked on in one go.
AT_ONCE = 50
#: What an answer needs to become a label again.
RELATED = (
    "author__annotator", "author__site__project", "consent__text",
    "question__site__project", "question__feature", "question__author__site",
    "question__message__conversation", "question__item",
)  # fmt: skip


def judge_due() -> int:
    """Judge the authors who have answered since they were judged last; how many."""
    ids = Author.objects.filter(judge_due=True).order_by("pk").values_list("pk", flat=True)
    due = list(ids[:AT_ONCE])
    for author_id in due:
        try:
            judge_author(author_id)
        except Exception:  # one author must not keep the others from being judged
            logger.exception("Judging author %s failed", author_id)
            Author.objects.filter(pk=author_id).update(judge_due=False)
    return len(due)


def judge_author(author_id: int) -> Trust | None:
    """Judge one author anew, and bring their answers into line with what comes of it. What is
    excluded is kept, with the reason, and comes back when the judgement changes."""
    seen = (
        Answer.objects.filter(author=author_id).order_by("-pk").values_list("pk", flat=True).first()
    )
    author = Author.objects.select_related("site").filter(pk=author_id).first()
    if author is None:
        return None
    # Weighed without a lock: it reads hundreds of rows, and others want to write.
    trust = judge_trust(evidence_of(author, timezone.now()))
    # What spoke against them before their data was deleted speaks on, until a manager rules.
    before = distrusted_before(author, timezone.now())
    told = _told(trust) | ({"summary": WHY} if before else {})
    trusted = not (trust.low or before)
    Author.objects.filter(pk=author_id).update(
        trust=told, trusted=trusted, proven=trusted and trust.proven
    )
    bring_answers_into_line(author_id)
    _judged(author_id, seen or 0)
    return trust


@transaction.atomic
def _judged(author_id: int, seen: int) -> None:
    """Nothing is due any more, unless an answer came that was not weighed."""
    if lock_author(author_id) is None:
        return
    if not Answer.objects.filter(author=author_id, pk__gt=seen).exists():
        Author.objects.filter(pk=author_id).update(judge_due=False)


def rule(author: Author, *, trusted: bool | None, reason: str = "") -> None:
    """A manager's decision over the signals; None leaves it to them again."""
    with transaction.atomic():
        locked = lock_author(author.pk)
        if locked is None:
            raise Erased("Their data was deleted meanwhile.")
        locked.ruling, locked.ruling_reason = trusted, reason.strip()[:300]
        # Judged anew by the next round, which finishes what a killed process leaves.
        locked.judge_due = True
        locked.save(update_fields=["ruling", "ruling_reason", "judge_due"])
    bring_answers_into_line(author.pk)


def bring_answers_into_line(author_id: int) -> None:
    """Exclude all of an author's answers, or take them back in, as they count now; the ledger and
    rewards follow. Some at a time: each costs a dozen statements, and others want to write too."""
    while _some_into_line(author_id):
        pass


@begun_again
@transaction.atomic
def _some_into_line(author_id: int) -> bool:
    """Whether there may be more."""
    author = lock_author(author_id)
    if author is None:
        return False
    standing = Answer.objects.filter(author=author).standing().order_by("pk")
    out_of_line = standing.filter(excluded_at__isnull=not author.counts)
    answers = list(out_of_line.select_related(*RELATED)[:AT_ONCE])
    # In the order in which payouts and imports lock theirs.
    list(Reward.objects.select_for_update().filter(answer__in=answers).order_by("pk"))
    items = [answer.question.item_id for answer in answers]
    list(ItemState.objects.select_for_update().filter(item__in=items).order_by("pk"))
    why = author.ruling_reason or str(author.trust.get("summary", "")) or "Not trusted."
    for answer in answers:
        _take_in(answer) if author.counts else _exclude(answer, why)
    return bool(answers)


def _take_in(answer: Answer) -> None:
    answer.excluded_at, answer.excluded_for = None, ""
    answer.save(update_fields=["excluded_at", "excluded_for"])
    bring_into_line(answer)
    restore(answer)


def _exclude(answer: Answer, why: str) -> None:
    answer.excluded_at, answer.excluded_for = timezone.now(), why[:300]
    answer.save(update_fields=["excluded_at", "excluded_for"])
    bring_into_line(answer)
    void(answer, why)


def _told(trust: Trust) -> dict[str, object]:
    telling = [each for each in trust.signals if each.strength > 0]
    return {
        "score": round(trust.score, 4),
        "low": trust.low,
        "summary": "; ".join(each.detail for each in telling[:3]),
        "signals": [
            {"name": each.name, "strength": round(each.strength, 3), "detail": each.detail}
            for each in telling
        ],
        "judged_at": timezone.now().isoformat(timespec="seconds"),
    }
