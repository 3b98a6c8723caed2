"""Data requests of authors: export and erasure; and retention."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from apps.authors.database import with_pauses
from apps.authors.errors import Erased
from apps.authors.models import (
    Answer,
    Author,
    CarriedLimits,
    Consent,
    Conversation,
    DailyUse,
    Erasure,
    Event,
    Message,
    Question,
    Reward,
    Site,
)
from apps.authors.querysets import OPEN, MessageQuerySet
from apps.authors.services.limits import keep_limits
from apps.authors.services.locking import lock_author, lock_author_to_delete, retry_on_deadlock
from apps.authors.services.messages import without_findings
from apps.authors.services.site_config import offers
from apps.common.audit import Action, record
from apps.common.bulk import empty_write_ahead_log
from apps.common.sealing import CannotOpen, unseal
from apps.labels.models import Annotator, ItemState, Label
from apps.projects.models import Item

#: Messages that are read at once.
AT_ONCE = 200


def author_data(author: Author) -> dict[str, Any]:
    return {
        "site": author.site.name,
        "pseudonym": author.pseudonym,
        "known_to_the_host_as": author.subject or None,
        "since": _iso(author.created_at),
        "opted_out": _iso(author.opted_out_at),
        "consents": [_consent(consent) for consent in author.consents.select_related("text")],
        "conversations": _conversations(author),
        "questions": [
            _question(question)
            for question in author.questions.select_related("feature").prefetch_related("answers")
        ],
        "offers": list(offers().data_of(author)),
        "rewards": [_reward(reward) for reward in author.rewards.order_by("pk")],
        "events": [
            {"what": event.kind, "at": _iso(event.at), "detail": event.data}
            for event in author.events.order_by("pk")
        ],
        "trust": {
            "counts": author.counts,
            "signals": author.trust.get("signals", []),
            "ruling": author.ruling,
            "ruling_reason": author.ruling_reason or None,
        },
        "network": author.network or None,
        "limits_from_before_a_deletion": _carried(author.carried),
    }


@retry_on_deadlock
@transaction.atomic
def erase_author(author: Author) -> Erasure:
    """Delete everything of an author: what they wrote and answered, the items and labels made of
    it, what others and models said of those items, and their name in the ledger.

    What stays are counters of caps and whether they counted, under a keyed hash and for a while
    (:mod:`.carried`). What is exported later reads the same tables and holds nothing of it either.
    The sum of a payout stays. A model call that runs at this moment is in vain: its message is
    gone.
    """
    # Concurrent writers wait, and then find the author gone.
    locked = lock_author_to_delete(author.pk)
    if locked is None:
        raise Erased("This author's data was deleted already.")
    items = Item.objects.filter(author_question__author=locked)
    removed = {
        "messages": locked.messages.count(),
        "questions": locked.questions.count(),
        "answers": locked.answers.count(),
        "items": items.count(),
        "labels": Label.objects.filter(item__in=items).count(),
    }
    ids = list(items.values_list("pk", flat=True))
    # Concurrent labels of these items finish first, or find the item gone.
    list(ItemState.objects.select_for_update().filter(item__in=ids).order_by("pk"))
    list(Reward.objects.select_for_update().filter(author=locked).order_by("pk"))
    Item.objects.filter(pk__in=ids).delete()
    if locked.annotator_id is not None:
        Annotator.objects.filter(pk=locked.annotator_id).delete()
    kept = keep_limits(locked)
    Reward.objects.filter(author=locked).delete()
    site = locked.site
    locked.delete()
    record(Action.AUTHOR_ERASED, site, changes={name: (n, 0) for name, n in removed.items()})
    Event.objects.create(site=site, kind=Event.Kind.ERASED)
    until = kept.until if kept else None
    transaction.on_commit(empty_write_ahead_log, robust=True)
    return Erasure.objects.create(site=site, removed=removed, limits_until=until)


def forget_old(now: datetime, most: int = 500) -> int:
    """Delete messages past their site's retention; how many. What was asked about keeps its
    question and its label, without the message. Authors who have never answered go as well."""
    count = 0
    DailyUse.objects.filter(day__lt=now.date() - timedelta(days=1)).delete()
    CarriedLimits.objects.filter(until__lte=now).delete()
    # Of a project that is being loaded, conversations come before their messages.
    for site in Site.objects.filter(project__loading=False).only("pk", "retention_days"):
        until = now - timedelta(days=site.retention_days)
        old = Message.objects.filter(site=site, received_at__lt=until)
        count += _empty_asked(old, most)
        about = Question.objects.filter(message=OuterRef("pk"))
        gone = list(old.filter(~Exists(about)).values_list("pk", flat=True)[:most])
        Message.objects.filter(pk__in=gone).delete()
        count += len(gone)
        _forget_conversations(site, now - timedelta(days=1), most)
        _forget_authors(site, until, most)
    return count


def _forget_conversations(site: Site, until: datetime, most: int) -> None:
    """Delete those without messages, each while nothing new can be said in it."""
    empty = Conversation.objects.filter(
        author__site=site, messages__isnull=True, started_at__lt=until
    )
    for pk, author in list(empty.values_list("pk", "author")[:most]):
        with transaction.atomic():
            lock_author(author)
            Conversation.objects.filter(pk=pk, messages__isnull=True).delete()


def _empty_asked(old: MessageQuerySet, most: int) -> int:
    """Take out what those that were asked about said: of the stages only how each ended stays."""
    about = Question.objects.filter(message=OuterRef("pk"))
    asked = old.filter(Exists(about)).exclude(Q(text="") & Q(sealed__isnull=True))
    found = list(asked.only("stages")[:most])
    for message in found:
        message.text, message.sealed, message.fingerprint = "", None, ""
        message.stages = without_findings(message.stages)
    Message.objects.bulk_update(found, ["text", "sealed", "fingerprint", "stages"], batch_size=100)
    return len(found)


def _forget_authors(site: Site, until: datetime, most: int) -> None:
    """Delete who was not here since and has never answered, with what they agreed to; a ruling
    stays, and that somebody whom the host knows does not want to be asked."""
    known = Q(subject="") | Q(opted_out_at__isnull=True)
    since = Message.objects.filter(author=OuterRef("pk"), received_at__gte=until)
    gone = Author.objects.filter(
        known, ~Exists(since), site=site, seen_at__lt=until, ruling__isnull=True, answers=None
    )
    for pk in list(gone.values_list("pk", flat=True)[:most]):
        with transaction.atomic():
            # They may have come back since.
            if lock_author_to_delete(pk) is not None:
                gone.filter(pk=pk).delete()


def open_text(text: str, sealed: bytes | memoryview | None) -> str:
    """A message as its author wrote it, where that is kept and can be opened."""
    if sealed is None:
        return text
    try:
        return unseal(sealed).decode()
    except CannotOpen:
        return text


def _conversations(author: Author) -> list[dict[str, Any]]:
    """In their order. Messages are read in parts: an author may have written for years."""
    refs = author.conversations.order_by("pk").values_list("pk", "ref")
    messages: dict[int, list[dict[str, Any]]] = {pk: [] for pk, _ in refs}
    columns = (
        "conversation_id", "role", "text", "sealed", "received_at", "reason", "language",
        "country", "stages",
    )  # fmt: skip
    rows = author.messages.order_by("pk").values(*columns).iterator(chunk_size=AT_ONCE)
    for row in with_pauses(rows, every=AT_ONCE):
        # A conversation that began just now is in the next export.
        messages.get(row["conversation_id"], []).append(_message(row))
    return [{"id": ref, "messages": messages[pk]} for pk, ref in refs]


def _consent(consent: Consent) -> dict[str, Any]:
    return {
        "version": consent.text.version,
        "texts": consent.text.texts,
        "asked_by": consent.by,
        "given": _iso(consent.given_at),
        "withdrawn": _iso(consent.withdrawn_at),
    }


def _message(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "role": row["role"],
        "text": open_text(row["text"], row["sealed"]),
        "at": _iso(row["received_at"]),
        "not_asked_because": row["reason"] or None,
        "language": row["language"] or None,
        "country": row["country"] or None,
        # How each ended: what it found stands in the text.
        "stages": [
            f"{stage.get('stage')}: {'passed' if stage.get('passed') else 'ended here'}"
            + (f" ({stage['reason']})" if stage.get("reason") else "")
            for stage in row["stages"]
        ],
    }


def _question(question: Question) -> dict[str, Any]:
    return {
        "about": question.feature.key,
        "question": question.text,
        "options": [option["label"] for option in question.options],
        # Not while it is open: the prediction would influence the answer.
        "expected": (question.predicted or None) if question.status not in OPEN else None,
        "status": question.status,
        "asked": _iso(question.pushed_at),
        "answers": [_answer(answer) for answer in question.answers.all()],
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "outcome": answer.outcome,
        "value": answer.value or None,
        "at": _iso(answer.received_at),
        "taken_back": _iso(answer.undone_at),
        "excluded": answer.excluded_for or None,
    }


def _carried(kept: CarriedLimits | None) -> dict[str, Any] | None:
    if kept is None:
        return None
    return {
        "deleted": _iso(kept.erased_at),
        "kept_until": _iso(kept.until),
        "surveys_of_that_day": kept.surveys,
        "cents_of_that_day": kept.day_cents,
        "cents_in_all": kept.total_cents,
        "counted": kept.trusted if kept.ruling is None else kept.ruling,
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
