"""Decide about the offer for a message: arm, selection, match, decision, words.

This runs in parallel with asking, and delays no question to an author. Every message that could
have an offer gets a decision, in every arm.
"""

import asyncio
import logging
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from apps.authors.models import Author, Message
from apps.authors.services.limits import budget_spent, count_cost
from apps.authors.services.message_lease import MOMENT, message_for_models
from apps.authors.services.messages import in_quiet_period, is_ordinary
from apps.authors.services.questions import PATIENCE, OpenModels, drive_calls
from apps.authors.services.site_config import config_of
from apps.authors.translations import RIGHT_TO_LEFT, translated
from apps.common.sealing import keyed_hash
from apps.echo.models import Decision
from apps.echo.offer_words import CHOSEN_BY, helpful_words, mattered_words
from apps.echo.services.experiments import place_of
from apps.echo.services.offer_ranking import rank_offers, selected_of
from apps.llm.models import ModelSpec
from apps.llm.services import remember_prompt
from apps.llm.shared_gateway import close_all, shared_gateway
from labelhub.core.echo.recommending.catalogue import Item
from labelhub.core.echo.recommending.policies import ECHO
from labelhub.core.echo.recommending.wording import (
    MODEL,
    Offer,
    OfferMoment,
    Wording,
    ready_offer,
    word_offer,
)
from labelhub.core.errors import LabelhubError
from labelhub.core.interview.limits import sampling_draw
from labelhub.core.interview.redaction import redact
from labelhub.core.llm.errors import ModelError
from labelhub.core.prompts import Prompt, PromptLibrary

logger = logging.getLogger(__name__)

#: How long a process holds a message to decide about.
LEASE = timedelta(seconds=60)
#: Maximum seconds for a model to word an offer.
LONGEST = 30.0
#: Messages per round.
AT_ONCE = 50
#: The share of the offers that ask what mattered most, and the fewest and most features to name.
MATTERED_SHARE = 0.2
LEAST_OPTIONS, MOST_OPTIONS = 2, 4


def messages_due(now: datetime) -> list[int]:
    """Claim messages to decide about; the caller holds them for :data:`LEASE`.

    Only messages that the model has judged as ordinary: one that it has not judged, for example
    because its author may not be asked now, may be about anything.
    """
    recent = Message.objects.by_authors().filter(
        site__enabled=True,
        site__echo__on=True,
        site__echo__offers_on=True,
        author__opted_out_at__isnull=True,
        received_at__gt=now - MOMENT,
        decision__isnull=True,
    )
    # Order by time, not by key: by key, some databases would scan all messages.
    oldest = recent.filter(is_ordinary()).exclude(text="").order_by("received_at", "pk")[:AT_ONCE]
    fresh = [message.pk for message in oldest if _claim(message, now)]
    return fresh + _reclaim_unfinished(now)


def decide_about(message_id: int, open_models: OpenModels = shared_gateway) -> Decision | None:
    """Decide about the offer for a message and store it; None if no decision is due."""
    related = ("message__author__site__model__provider", "message__conversation", "echo")
    rows: QuerySet[Decision] = Decision.objects.select_related(*related)
    decision = rows.filter(message=message_id, status=Decision.Status.PENDING).first()
    if decision is None or decision.message is None:
        return None
    if in_quiet_period(decision.message):
        return decision if _store(decision) else None
    place = place_of(decision.echo, decision.message.author, decision.message_at)
    decision.selection, found = rank_offers(decision.echo, decision.message, place, timezone.now())
    decision.policy, decision.arm, decision.unit = place.policy, place.arm, place.unit
    decision.experiment = place.experiment
    decision.why, decision.propensity = str(found.why), found.propensity
    decision.propensities = dict(found.item_propensities)
    decision.status = Decision.Status.NOTHING
    if found.match is not None:
        match = found.match
        decision.status = Decision.Status.WAITING
        decision.item = decision.echo.items.filter(ref=match.item.id).first()
        decision.item_ref, decision.vertical = match.item.id, match.item.vertical
        decision.score = match.score
        decision.reasons = [
            {"key": feature.key, "value": feature.value, "part": round(part, 4)}
            for feature, part in match.reasons
        ]
        offer, spent = _word_offer(match.item, decision.message, open_models)
        decision.offer = _shown(offer, decision, decision.message)
        decision.cost_nanousd = sum(spent)
        count_cost(decision.message.site_id, sum(spent), calls=len(spent))
    return decision if _store(decision) else None


def expire_decisions(now: datetime) -> int:
    """End decisions and offers that are too late; returns their number."""
    waiting = (Decision.Status.PENDING, Decision.Status.WAITING)
    late = Decision.objects.filter(status__in=waiting, created_at__lt=now - MOMENT)
    return late.update(status=Decision.Status.EXPIRED) if late.exists() else 0


def _reclaim_unfinished(now: datetime) -> list[int]:
    """Claim recent messages whose decision was not finished, for example after a kill."""
    left = Decision.objects.filter(
        status=Decision.Status.PENDING,
        lease_until__lt=now,
        message_at__gt=now - MOMENT,
        message__isnull=False,
    )
    rows = left.values_list("pk", "message_id", "lease_until")[:AT_ONCE]
    return [
        message
        for pk, message, lease in rows
        if left.filter(pk=pk, lease_until=lease).update(lease_until=now + LEASE)
    ]


def _claim(message: Message, now: datetime) -> bool:
    """Claim a message; False if another process was faster."""
    try:
        with transaction.atomic():
            Decision.objects.create(
                echo_id=message.site_id,
                author_id=message.author_id,
                message=message,
                message_at=message.received_at,
                policy="",
                lease_until=now + LEASE,
            )
    except IntegrityError:
        return False
    return True


def _word_offer(item: Item, message: Message, open_models: OpenModels) -> tuple[Offer, list[int]]:
    """The offer in words and the cost of each call; from a template if no model may be called."""
    site, asked, spent = message.author.site, message_for_models(message), list[int]()
    moment = OfferMoment(asked.text, asked.language or site.language, asked.context)
    if budget_spent(site):
        return ready_offer(item, moment), spent
    salt, region = keyed_hash("salt", site.public_key), site.region
    steps = word_offer(
        item, moment, prompt(), salt, lambda text: bool(redact(text, region=region).findings)
    )
    try:
        offer = asyncio.run(_run_wording(steps, config_of(site).spec, open_models, spent))
    except LabelhubError as error:
        logger.warning("A template words the offer for message %s: %s", message.pk, error)
        return ready_offer(item, moment), spent
    if offer.source == MODEL:
        remember_prompt(prompt())
    return offer, spent


async def _run_wording(
    steps: Wording, spec: ModelSpec, open_models: OpenModels, spent: list[int]
) -> Offer:
    try:
        async with asyncio.timeout(LONGEST), open_models(spec, PATIENCE) as models:
            return await drive_calls(steps, spec, models, spent)
    except TimeoutError:
        raise ModelError(f"The model did not finish within {LONGEST:g} seconds.") from None
    finally:
        await close_all()


def _shown(offer: Offer, decision: Decision, message: Message) -> dict[str, Any]:
    """The offer as JSON for the widget."""
    item = offer.item
    price = "" if item.price is None else f"{item.price} {item.currency}"
    return {
        "oid": str(decision.uid),
        "re": message.ref,
        "conv": message.conversation.ref,
        "label": offer.label,
        "title": item.title,
        "text": offer.text,
        "link": item.link,
        "picture": item.picture,
        "price": price,
        "lang": offer.language,
        "dir": "rtl" if offer.language in RIGHT_TO_LEFT else "ltr",
        "helpful": helpful_words(offer.language)
        | _mattered(decision, message.author, offer.language),
        "why": translated(CHOSEN_BY, offer.language),
    }


def _mattered(decision: Decision, author: Author, language: str) -> dict[str, Any]:
    """The question what mattered most, for a share of the offers that Echo makes from features.

    The draw and the order of the options depend on the ids of decision and author alone.
    """
    draw = sampling_draw("mattered", author.uid.hex, decision.uid.hex)
    if decision.policy != ECHO or draw >= MATTERED_SHARE:
        return {}
    selected = selected_of(decision.selection, config_of(author.site).definitions)
    options = [(feature.key, feature.name) for feature in selected[:MOST_OPTIONS]]
    if len(options) < LEAST_OPTIONS:
        return {}
    # People tend to choose the first option, which would confirm what Echo believes already.
    options.sort(key=lambda option: sampling_draw(option[0], author.uid.hex, decision.uid.hex))
    return {"mattered": mattered_words(language, options)}


@transaction.atomic
def _store(decision: Decision) -> bool:
    """Store the decision; False if it was ended or its author erased meanwhile."""
    rows = Decision.objects.filter(pk=decision.pk, status=Decision.Status.PENDING)
    if not rows.select_for_update(of=("self",)).exists():
        return False
    late = timezone.now() - decision.message_at > MOMENT
    if late or (decision.message is not None and in_quiet_period(decision.message)):
        decision.status = Decision.Status.EXPIRED
    decision.lease_until = None
    decision.save()
    return True


@lru_cache(maxsize=1)
def prompt() -> Prompt:
    """The prompt for the words of offers."""
    return PromptLibrary(settings.PROMPTS_DIR).get("echo", "offer")
