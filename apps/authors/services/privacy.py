"""What an author may ask of us: to see what is kept of them, and to have it deleted."""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q

from apps.authors.models import (
    Answer,
    Author,
    Consent,
    Conversation,
    Erasure,
    Event,
    Message,
    Question,
    Reward,
    Site,
)
from apps.authors.sealing import CannotOpen, unseal
from apps.labels.models import Annotator, Label
from apps.projects.models import Item


def author_data(author: Author) -> dict[str, Any]:
    """Everything that is kept of an author, JSON-ready."""
    return {
        "site": author.site.name,
        "pseudonym": author.pseudonym,
        "known_to_the_host_as": author.subject or None,
        "since": _iso(author.created_at),
        "opted_out": _iso(author.opted_out_at),
        "consents": [_consent(each) for each in author.consents.select_related("text")],
        "conversations": [_conversation(each) for each in author.conversations.order_by("pk")],
        "questions": [_question(each) for each in _questions(author)],
        "rewards": [_reward(each) for each in author.rewards.order_by("pk")],
        "events": [
            {"what": each.kind, "at": _iso(each.at)} for each in author.events.order_by("pk")
        ],
        "trust": {"counts": author.counts, "signals": author.trust.get("signals", [])},
    }


@transaction.atomic
def erase_author(author: Author) -> Erasure:
    """Delete everything of an author: what they wrote and answered, the items and labels made of
    it, what others and models said of those items, and their name in the ledger.

    What is exported later reads the same tables and holds nothing of it either. Of a payout the sum
    stays. Somebody who is being asked about at this moment is asked in vain: their message is gone.
    """
    # Whoever writes for this author waits, and then finds them gone.
    locked = Author.objects.select_for_update().select_related("site").get(pk=author.pk)
    items = Item.objects.filter(author_question__author=locked)
    removed = {
        "messages": locked.messages.count(),
        "questions": locked.questions.count(),
        "answers": locked.answers.count(),
        "items": items.count(),
        "labels": Label.objects.filter(item__in=items).count(),
    }
    ids = list(items.values_list("pk", flat=True))
    Item.objects.filter(pk__in=ids).delete()
    if locked.annotator_id is not None:
        Annotator.objects.filter(pk=locked.annotator_id).delete()
    Reward.objects.filter(author=locked).delete()
    site = locked.site
    locked.delete()
    Event.objects.create(site=site, kind=Event.Kind.ERASED)
    return Erasure.objects.create(site=site, removed=removed)


def forget_old(now: datetime, most: int = 500) -> int:
    """Delete messages past their site's retention; how many. What was asked about keeps its
    question and its label, without the message."""
    count = 0
    for site in Site.objects.only("pk", "retention_days"):
        old = Message.objects.filter(
            author__site=site, received_at__lt=now - timedelta(days=site.retention_days)
        )
        asked = old.filter(questions__isnull=False).exclude(Q(text="") & Q(sealed__isnull=True))
        ids = list(asked.values_list("pk", flat=True).distinct()[:most])
        count += Message.objects.filter(pk__in=ids).update(text="", sealed=None, fingerprint="")
        gone = list(old.filter(questions__isnull=True).values_list("pk", flat=True)[:most])
        Message.objects.filter(pk__in=gone).delete()
        Conversation.objects.filter(author__site=site, messages__isnull=True).exclude(
            started_at__gt=now - timedelta(days=1)
        ).delete()
        count += len(gone)
    return count


def written(message: Message) -> str:
    """The message as its author wrote it, where that is kept and can be opened."""
    if message.sealed is None:
        return message.text
    try:
        return unseal(message.sealed).decode()
    except CannotOpen:
        return message.text


def _questions(author: Author) -> list[Question]:
    return list(author.questions.select_related("feature").prefetch_related("answers"))


def _consent(consent: Consent) -> dict[str, Any]:
    return {
        "version": consent.text.version,
        "texts": consent.text.texts,
        "asked_by": consent.by,
        "given": _iso(consent.given_at),
        "withdrawn": _iso(consent.withdrawn_at),
    }


def _conversation(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": conversation.ref,
        "messages": [
            {
                "role": each.role,
                "text": written(each),
                "at": _iso(each.received_at),
                "not_asked_because": each.reason or None,
            }
            for each in conversation.messages.order_by("pk")
        ],
    }


def _question(question: Question) -> dict[str, Any]:
    return {
        "about": question.feature.key,
        "question": question.text,
        "options": [option["label"] for option in question.options],
        "expected": question.predicted or None,
        "status": question.status,
        "asked": _iso(question.pushed_at),
        "answers": [_answer(each) for each in question.answers.all()],
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "outcome": answer.outcome,
        "value": answer.value or None,
        "at": _iso(answer.received_at),
        "taken_back": _iso(answer.undone_at),
        "excluded": answer.excluded_for or None,
    }


def _reward(reward: Reward) -> dict[str, Any]:
    return {
        "cents": reward.cents,
        "currency": reward.currency,
        "credited": _iso(reward.credited_at),
        "due": _iso(reward.due_at),
        "paid": reward.payout_id is not None,
        "void": reward.void_for or None,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
