"""Claims of messages: whether the author may be asked now, and by which plan."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from apps.authors.models import Feature, Message, Site
from apps.authors.services.limits import (
    ASK,
    AskedQuestion,
    LimitReached,
    asked_before,
    history_of,
    person_of,
    reserve,
    rule_of,
)
from apps.authors.services.messages import (
    LEASE,
    SHOWN_OF_REPLIES,
    context_of,
    drop_message,
    has_unjudgeable_text,
    in_quiet_period,
    unjudged_texts,
    verdict,
)
from apps.authors.services.site_config import MessageChooser, chooser_for, config_of
from apps.common.sealing import keyed_hash
from apps.llm.models import ModelSpec
from labelhub.core.interview.features import Feature as Definition
from labelhub.core.interview.limits import may_ask, sampling_draw
from labelhub.core.interview.pipeline import AuthorMessage, InterviewPlan
from labelhub.core.interview.redaction import redact
from labelhub.core.prompts import Prompt, PromptLibrary

#: A question is about now (author-widget.md, 3.3): it is asked within this time of its message.
MOMENT = timedelta(minutes=2)
#: How long the process that stored a message has to claim it.
UNCLAIMED = timedelta(seconds=5)
#: How long a task that was sent for a message has to claim it.
QUEUED = timedelta(seconds=30)
#: The reason of a message that was not asked about in time.
OVER = "Its moment was over before it was asked about."
ROLES = ("relevance", "prediction", "question", "word")


@dataclass(frozen=True, slots=True)
class AskingTask:
    """A claimed message, with all that is needed to ask about it."""

    message: Message
    spec: ModelSpec
    author_message: AuthorMessage
    plan: InterviewPlan
    propensity: float
    features: Mapping[str, Feature]
    chooser: MessageChooser | None = None


@dataclass(frozen=True, slots=True)
class Permission:
    """An author may be asked about a message: what they were asked before, and the probability
    that they would be asked now."""

    asked: Sequence[AskedQuestion]
    propensity: float


def claim_message(message: Message) -> AskingTask | None:
    """Claim a message if it is free and its author may be asked now.

    Args:
        message: with its author and their site; its ``lease_until`` identifies the claim.

    Returns:
        What to ask; None if nothing is asked: the message has the reason.
    """
    now = timezone.now()
    # Of two who come at once only one gets it.
    free = Message.objects.filter(
        _is_free("lease_until", now), pk=message.pk, status=Message.Status.RECEIVED
    )
    message.lease_until = now + LEASE
    if not free.update(lease_until=message.lease_until):
        return None
    permission = permit_asking(message)
    return plan_asking(message, permission) if permission is not None else None


def permit_asking(message: Message) -> Permission | None:
    """Decide whether the author may be asked now about a message that the caller has claimed, and
    count the first call; None if not: the message has the reason."""
    now = timezone.now()
    asked = asked_before(message.author_id)
    stage, reason, propensity = _permit(message, asked, now)
    if not stage:
        try:
            # The last before the end of a transaction: it locks a row that is the whole site's.
            reserve(message.author.site, ASK, person_of(message.author))
            return Permission(asked, propensity)
        except LimitReached as limit:
            stage, reason = "budget", limit.message
    drop_message(message, stage, reason)
    return None


def plan_asking(message: Message, permission: Permission) -> AskingTask:
    """What to ask about a claimed message whose author may be asked."""
    message.stages.append(verdict("throttle", passed=True, reason="", data={}))
    kit = config_of(message.author.site)
    shown = replace(message_for_models(message), unjudged=unjudged_texts(message))
    chooser = chooser_for(message, shown, kit.features, permission.asked)
    times = Counter(question.feature for question in permission.asked)
    plan = plan_of(message.author.site, kit.definitions, times)
    return AskingTask(
        message=message,
        spec=kit.spec,
        author_message=shown,
        plan=replace(plan, chooser=chooser) if chooser is not None else plan,
        propensity=permission.propensity,
        features={feature.key: feature for feature in kit.features},
        chooser=chooser,
    )


def unfinished_messages(most: int = 50) -> list[int]:
    """Received messages that nobody has claimed, as after a kill; the caller sends a task for each.
    No other caller gets them meanwhile, so that a backlog is sent once."""
    now = timezone.now()
    left = Message.objects.filter(
        _is_free("lease_until", now),
        _is_free("queued_until", now),
        status=Message.Status.RECEIVED,
        received_at__lt=now - UNCLAIMED,
    )
    ids = list(left.order_by("received_at").values_list("pk", flat=True)[:most])
    return [pk for pk in ids if left.filter(pk=pk).update(queued_until=now + QUEUED)]


def message_for_models(message: Message) -> AuthorMessage:
    context = tuple(
        (role, text if role == "author" else text[:SHOWN_OF_REPLIES])
        for role, text in context_of(message)
    )
    return AuthorMessage(text=message.text, language=message.language, context=context)


def plan_of(
    site: Site, definitions: Sequence[Definition], asked: Mapping[str, int]
) -> InterviewPlan:
    """The plan of a survey: the site's features, and how often the author was asked about each."""
    return InterviewPlan(
        features=tuple(definitions),
        prompts=prompts(),
        salt=salt_of(site),
        least_relevant=site.least_relevant,
        most_questions=site.most_questions,
        asked=asked,
        leaks=leak_detector(site.region),
    )


def salt_of(site: Site) -> str:
    """The constant secret of a site that makes delimiters which authors cannot forge."""
    return keyed_hash("salt", site.public_key)


@lru_cache(maxsize=300)
def leak_detector(region: str) -> Callable[[str], bool]:
    """A check whether a text holds personal data in the formats of that country."""
    return lambda text: bool(redact(text, region=region).findings)


@lru_cache(maxsize=1)
def prompts() -> dict[str, Prompt]:
    """The prompts of the model stages, by role."""
    library = PromptLibrary(settings.PROMPTS_DIR)
    return {role: library.get("interview", role) for role in ROLES}


def _is_free(field: str, now: datetime) -> Q:
    """Messages whose lease in ``field`` is unset or has expired."""
    return Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__lt": now})


def _permit(
    message: Message, asked: Sequence[AskedQuestion], now: datetime
) -> tuple[str, str, float]:
    """The stage that ends the message here and the reason, both empty if it may be asked about, and
    the probability that it was asked about."""
    site, author = message.author.site, message.author
    if now - message.received_at > MOMENT:
        return "interrupted", OVER, 0.0
    if in_quiet_period(message):
        return "sensitive", "crisis_before", 0.0
    draw = sampling_draw(site.public_key, author.uid.hex, message.ref)
    permit = may_ask(rule_of(site), history_of(author, message, asked, now), now, draw)
    if permit.allowed and has_unjudgeable_text(message):
        return "throttle", "not_judged", 0.0
    return ("" if permit.allowed else "throttle"), permit.reason, permit.propensity
