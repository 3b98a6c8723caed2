"""Whom to believe: several weak signals, judged together, and a manager's ruling over them."""

from django.db import transaction
from django.utils import timezone

from apps.authors.models import Answer, Author
from apps.authors.services.evidence import evidence_of
from apps.authors.services.ledger import bring_into_line
from apps.authors.services.rewarding import restore, void
from labelhub.core.interview.trust import Trust, judge_trust

AT_ONCE = 50


def judge_due() -> int:
    """Judge the authors who have answered since they were judged last; how many."""
    ids = Author.objects.filter(judge_due=True).order_by("pk").values_list("pk", flat=True)
    due = list(ids[:AT_ONCE])
    for author_id in due:
        judge_author(author_id)
    return len(due)


@transaction.atomic
def judge_author(author_id: int) -> Trust | None:
    """Judge one author anew, and bring their answers into line with what comes of it. What is
    excluded is kept, with the reason, and comes back when the judgement changes."""
    author = Author.objects.select_for_update().filter(pk=author_id).first()
    if author is None:
        return None
    trust = judge_trust(evidence_of(author, timezone.now()))
    before = author.counts
    author.trust = _told(trust)
    author.trusted, author.judge_due = not trust.low, False
    author.save(update_fields=["trust", "trusted", "judge_due"])
    if author.counts != before:
        apply_ruling(author)
    return trust


@transaction.atomic
def rule(author: Author, *, trusted: bool | None, reason: str = "") -> None:
    """A manager's decision over the signals; None leaves it to them again."""
    locked = Author.objects.select_for_update().get(pk=author.pk)
    before = locked.counts
    locked.ruling, locked.ruling_reason = trusted, reason.strip()[:300]
    locked.save(update_fields=["ruling", "ruling_reason"])
    if locked.counts != before:
        apply_ruling(locked)


def apply_ruling(author: Author) -> None:
    """Exclude all of an author's answers, or take them back in; the ledger and rewards follow."""
    now = timezone.now()
    related = (
        "author__annotator", "author__site__project", "consent__text",
        "question__site__project", "question__feature", "question__author__site",
        "question__message__conversation", "question__item",
    )  # fmt: skip
    answers = Answer.objects.filter(author=author).standing().select_related(*related)
    why = author.ruling_reason or str(author.trust.get("summary", "")) or "Not trusted."
    for answer in answers.filter(excluded_at__isnull=author.counts is False):
        answer.excluded_at = None if author.counts else now
        answer.excluded_for = "" if author.counts else why[:300]
        answer.save(update_fields=["excluded_at", "excluded_for"])
        bring_into_line(answer)
        if author.counts:
            restore(answer)
        else:
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
