"""Messages arrive: screened, stripped of personal data, only then stored; and how each one ends.

After a message of somebody in danger its author is not asked. The word list looks at every
message; a model judges one only where its author may be asked. So what no model has judged is
judged with the next message that is, in whichever conversation.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.authors.errors import Erased
from apps.authors.models import Conversation, Message, Question, Site
from apps.authors.querysets import OPEN
from apps.authors.services.limits import count_cost
from apps.authors.services.locking import lock_author
from apps.authors.services.site_config import offers
from apps.common.metrics import MESSAGES, count_stored
from apps.common.prepared import prepared
from apps.common.rows import insert_row, update_row_if
from apps.common.sealing import keyed_hash, seal
from labelhub.core.interview.calls import JUDGED_DANGER, REASONS
from labelhub.core.interview.language import detect_language
from labelhub.core.interview.message_filter import screen
from labelhub.core.interview.redaction import finder, redact
from labelhub.core.safety import DANGER, reacts_to_danger, shows_danger
from labelhub.core.schema import fold

#: Columns that are written when a message ends.
_ENDS = (
    "status", "dropped_at", "reason", "stages", "text", "sealed", "processed_at", "lease_until",
)  # fmt: skip


def verdict(stage: str, *, passed: bool, reason: str, data: dict[str, Any]) -> dict[str, Any]:
    """One stage's verdict, as it is stored."""
    return {"stage": stage, "passed": passed, "reason": reason, "data": data}


def without_findings(stages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The verdicts of the stages without their findings in the message."""
    return [stage | {"data": {}} for stage in stages]


def end_message(
    message: Message, dropped_at: str, reason: str, *, cost: int = 0, calls: int = 0
) -> bool:
    """End a message: asked about, or dropped at a stage.

    Args:
        cost: of the models, in nano-USD.
        calls: of the models that were not counted before they began.

    Returns:
        Whether the caller still held it: False if it was erased or claimed by another process
        since. Its cost is counted anyway.
    """
    count_cost(message.site_id, cost, calls=calls)
    sensitive = dropped_at == "sensitive"
    keeps_nothing = message.author.site.keep_text == Site.KeepText.NOTHING
    forgotten = sensitive or (dropped_at and keeps_nothing)
    message.status = Message.Status.DROPPED if dropped_at else Message.Status.ASKED
    message.dropped_at, message.reason = dropped_at, reason[:300]
    message.stages = without_findings(message.stages) if forgotten else message.stages
    message.text = "" if forgotten else message.text
    message.sealed = None if sensitive else message.sealed
    message.processed_at = timezone.now()
    if cost:
        spent = F("cost_nanousd") + cost
        Message.objects.filter(pk=message.pk).update(cost_nanousd=spent)
    claim, message.lease_until = message.lease_until, None
    ended = update_row_if(message, *_ENDS, lease_until=claim)
    message.lease_until = claim  # a second call finds the claim gone
    return ended


def drop_message(
    message: Message, stage: str, reason: str, *, cost: int = 0, calls: int = 0
) -> None:
    """End a message at a stage that it does not pass, with the reason."""
    message.stages.append(verdict(stage, passed=False, reason=reason, data={}))
    end_message(message, stage, reason, cost=cost, calls=calls)


#: How long nothing is asked in other conversations; in the same one, nothing is asked again.
QUIET_PERIOD = timedelta(hours=24)
_REASONS = (DANGER, JUDGED_DANGER)
#: Stages that only a message comes to which a model has called ordinary.
AFTER_JUDGEMENT = ("prediction", "enough", "choice", "questions")
#: Messages that one verdict covers beside its own, and characters of each.
MOST, LONGEST = 10, 4_000
#: How long nothing is asked after an unjudged message whose text is not kept.
UNSEEN = timedelta(minutes=5)


def is_crisis(message: Message) -> bool:
    """Whether a message shows somebody in danger, by the word list or by the model."""
    return message.reason in _REASONS


def in_quiet_period(message: Message) -> bool:
    """Whether the author, or the assistant in this conversation, spoke of a danger lately."""
    since = timezone.now() - QUIET_PERIOD
    return _danger_messages.first(message.author_id, message.conversation_id, since) is not None


def withdraw_open_questions(author_id: int) -> None:
    """Withdraw open questions and offers about earlier messages; pages remove them."""
    still_open = Question.objects.filter(author=author_id, status__in=OPEN)
    still_open.update(status=Question.Status.RETRACTED, closed_at=timezone.now())
    offers().withdraw(author_id)


def is_ordinary() -> Q:
    return (
        Q(status=Message.Status.ASKED)
        | Q(dropped_at__in=AFTER_JUDGEMENT)
        | Q(dropped_at="relevance", reason="none_relevant")
    )


def unjudged_texts(message: Message) -> tuple[str, ...]:
    """The author's other recent texts that no model has judged, oldest first."""
    texts = _unjudged_texts(message.author_id, message.pk, timezone.now() - QUIET_PERIOD)
    return tuple(text[:LONGEST] for (text,) in reversed(texts))


def has_unjudgeable_text(message: Message) -> bool:
    """Whether the author wrote something in the last minutes that cannot be judged any more,
    because the site keeps no text of unasked messages."""
    if message.author.site.keep_text != Site.KeepText.NOTHING:
        return False
    return _unjudgeable.first(message.author_id, message.pk, timezone.now() - UNSEEN) is not None


def _unjudged(author: int, since: datetime) -> QuerySet[Message]:
    judged = (
        is_ordinary()
        | Q(dropped_at="sensitive")
        | Q(dropped_at="relevance", reason__in=REASONS.values())
    )
    written = Message.objects.filter(author=author, role="author", received_at__gte=since)
    return written.exclude(judged)


@prepared
def _unjudged_texts(author: int, but: int, since: datetime) -> QuerySet[Message, tuple[str]]:
    others = _unjudged(author, since).exclude(pk=but).exclude(text="").order_by("-pk")
    return others.values_list("text")[:MOST]


@prepared
def _unjudgeable(author: int, but: int, since: datetime) -> QuerySet[Message, tuple[int]]:
    others = _unjudged(author, since).exclude(pk=but).filter(text="").order_by("-pk")
    return others.values_list("pk")[:1]


@prepared
def _danger_messages(
    author: int, conversation: int, since: datetime
) -> QuerySet[Message, tuple[int]]:
    signs = Message.objects.filter(author=author, reason__in=_REASONS)
    near = signs.filter(Q(conversation=conversation) | Q(received_at__gte=since))
    return near.values_list("pk")[:1]


#: Earlier messages that a repetition is looked for in, and that belong to a message (paper 004,
#: B.1).
RECENT = CONTEXT = 5
#: Characters of an assistant's message that models and annotators are shown; what authors wrote
#: stays whole (paper 004, B.1).
SHOWN_OF_REPLIES = 300
#: How long a claim of a message lasts.
LEASE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    ref: str
    conversation: str
    role: str
    text: str
    language: str = ""
    country: str = ""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """Result of storing a message; ``fresh`` is False for a retry."""

    message: Message
    fresh: bool


@dataclass(slots=True)
class Screening:
    """The verdicts of the stages without a model; ``dropped_at`` is empty if the text passed."""

    text: str
    language: str = ""
    dropped_at: str = ""
    reason: str = ""
    stages: list[dict[str, Any]] = field(default_factory=list)

    def note(self, stage: str, *, passed: bool, reason: str = "", **data: Any) -> bool:
        """Add a verdict; returns ``passed``."""
        self.stages.append(verdict(stage, passed=passed, reason=reason, data=data))
        if not passed and not self.dropped_at:
            self.dropped_at, self.reason = stage, reason
        return passed


def store_message(
    site: Site,
    author_id: int,
    incoming: Incoming,
    *,
    claim: bool = False,
    within: Callable[[Message], None] = lambda _message: None,
) -> StoredMessage:
    """Store a message once, however often it is sent; committed when this returns.

    With ``claim`` the caller holds its claim and asks the models about it at once. ``within`` is
    called with the new message in the transaction that stores it; where it raises, nothing is
    stored.

    Raises:
        Erased: the author's data was deleted.
    """
    message = Message(author_id=author_id, site_id=site.pk, ref=incoming.ref)
    message.role, message.country = incoming.role, incoming.country[:2].upper()
    # What is read of a text is read before the transaction, which keeps others from writing.
    if incoming.role == Message.Role.ASSISTANT:
        known = _message_with_ref.first(author_id, incoming.ref)
        if known is not None:
            return StoredMessage(known, fresh=False)
        _fill_from_assistant(message, site, incoming)
    else:
        recent = dict(_recent_of(author_id))
        if incoming.ref in recent:
            known = _message_with_ref.first(author_id, incoming.ref)
            if known is not None:
                return StoredMessage(known, fresh=False)
        _fill_from_author(message, site, incoming, [text for text in recent.values() if text])
        message.lease_until = timezone.now() + LEASE if claim else None
    return _insert_message(message, site, incoming.conversation, within)


def screen_text(site: Site, text: str, recent: Sequence[str] = (), language: str = "") -> Screening:
    """Run the stages without a model: filter, redaction before anything else reads the text, signs
    of danger.

    ``language``: the author's, if known; used for texts that are too short to detect one.
    """
    usual = language if language in site.languages else site.language
    found = Screening(text="", language=detect_language(text, site.languages, usual))
    reason = screen(text, recent=recent)
    found.note("screen", passed=not reason, reason=reason)
    redacted = redact(text, region=site.region, names=finder())
    found.text = redacted.text
    kinds = sorted({finding.type for finding in redacted.findings})
    found.note("redaction", passed=True, found=kinds, count=len(redacted.findings))
    danger = DANGER if shows_danger(text) else ""
    if not found.note("sensitive", passed=not danger, reason=danger):
        # Neither the text nor the word that matched is kept.
        found.text, found.dropped_at, found.reason = "", "sensitive", danger
    return found


def context_of(message: Message) -> list[tuple[str, str]]:
    """Role and text of the messages of the conversation before ``message``, oldest first."""
    return _earlier(message.conversation_id, message.pk)[::-1]


def _fill_from_author(
    message: Message, site: Site, incoming: Incoming, recent: Sequence[str]
) -> None:
    found = screen_text(site, incoming.text, recent, incoming.language)
    message.text, message.language = found.text, found.language
    message.stages, message.reason = found.stages, found.reason
    message.dropped_at = found.dropped_at
    message.status = Message.Status.DROPPED if found.dropped_at else Message.Status.RECEIVED
    message.fingerprint = keyed_hash("text", fold(incoming.text))
    if site.keep_text == Site.KeepText.SEALED and found.dropped_at != "sensitive":
        message.sealed = seal(incoming.text.encode())
    elif site.keep_text == Site.KeepText.NOTHING and found.dropped_at:
        message.text = ""


def _fill_from_assistant(message: Message, site: Site, incoming: Incoming) -> None:
    """The assistant repeats what the author wrote: its text is redacted too, and dropped if the
    site keeps no text. If it speaks of a danger, the author may have done so."""
    message.status = Message.Status.CONTEXT
    message.reason = DANGER if reacts_to_danger(incoming.text) else ""
    if site.keep_text != Site.KeepText.NOTHING and not message.reason:
        message.text = redact(incoming.text, region=site.region, names=finder()).text


def _insert_message(
    message: Message,
    site: Site,
    conversation: str,
    within: Callable[[Message], None],
    *,
    again: bool = False,
) -> StoredMessage:
    try:
        with transaction.atomic():
            author = lock_author(message.author_id)
            if author is None:
                raise Erased("Your data was deleted; nothing was stored.")
            author.site = site
            message.author = author
            found = _conversation_with_ref.first(author.pk, conversation)
            message.conversation = found or insert_row(
                Conversation(author=author, ref=conversation)
            )
            insert_row(message)
            count_stored(MESSAGES, {(message.role,): 1})
            if is_crisis(message):
                withdraw_open_questions(author.pk)
            within(message)
    except IntegrityError:
        # Another connection sent the same message, or another one that begins the conversation.
        known = _message_with_ref.first(message.author_id, message.ref)
        if known is not None:
            return StoredMessage(known, fresh=False)
        if again:  # its site was deleted meanwhile
            raise
        message.pk = None
        return _insert_message(message, site, conversation, within, again=True)
    return StoredMessage(message, fresh=True)


def stable_ref(*parts: str) -> str:
    """An id of 32 hexadecimal digits for what has none of its own, equal for equal parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


@prepared
def _message_with_ref(author: int, ref: str) -> QuerySet[Message]:
    return Message.objects.filter(author=author, ref=ref)


@prepared
def _conversation_with_ref(author: int, ref: str) -> QuerySet[Conversation]:
    return Conversation.objects.filter(author=author, ref=ref)


@prepared
def _earlier(conversation: int, before: int) -> QuerySet[Message, tuple[str, str]]:
    earlier = Message.objects.filter(conversation=conversation, pk__lt=before).exclude(text="")
    return earlier.order_by("-pk").values_list("role", "text")[:CONTEXT]


@prepared
def _recent_of(author: int) -> QuerySet[Message, tuple[str, str]]:
    recent = Message.objects.filter(author=author, role="author").order_by("-pk")
    return recent.values_list("ref", "text")[:RECENT]
