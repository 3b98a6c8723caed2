"""Rank the items for a message or a trial text, and decide which one to offer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from apps.authors.models import Author, Message
from apps.authors.services.console import DryRun, dry_run
from apps.authors.services.message_lease import message_for_models
from apps.authors.services.messages import AFTER_JUDGEMENT
from apps.authors.services.questions import OpenModels
from apps.authors.services.site_config import config_of
from apps.echo.models import Decision, Echo, Selection
from apps.echo.services.catalogue import index_of
from apps.echo.services.experiments import ArmPlace
from apps.echo.services.selection import preview_selection, select_unasked
from apps.llm.shared_gateway import shared_gateway
from labelhub.core.echo.recommending.matching import Match, OfferContext, Selected, match
from labelhub.core.echo.recommending.policies import (
    NOTHING,
    POLICIES,
    OfferDecision,
    OfferHistory,
    OfferRule,
    decide,
    rule_of,
)
from labelhub.core.interview.features import Feature
from labelhub.core.interview.limits import sampling_draw

#: How many offers and messages an author's history covers.
LOOKED_AT, MESSAGES = 50, 400
#: The least number of messages before the same item is offered again.
SAME_ITEM_MESSAGES = 40


def rank_offers(
    echo: Echo, message: Message, place: ArmPlace, now: datetime
) -> tuple[Selection | None, OfferDecision]:
    """Decide about the offer for a message, by the policy of its arm; also returns the selection
    that the decision is based on."""
    selection = Selection.objects.filter(message=message).first() or select_unasked(message)
    policy = place.policy if place.policy in POLICIES else NOTHING
    history = history_of(message, now)
    moment = OfferContext(
        message_text=message.text,
        context=[text for role, text in message_for_models(message).context],
        selected=selected_of(selection, config_of(message.author.site).definitions),
        exclude=history.resting,
        draw=_draw(message, "item"),
    )
    matches = POLICIES[policy](index_of(echo), moment)
    rule = rule_of(policy, offer_rule_of(echo))
    return selection, decide(rule, matches, history, draw=_draw(message, "offer"))


def selected_of(selection: Selection | None, definitions: Iterable[Feature]) -> list[Selected]:
    """The selected features with their predictions, and the meanings of the predicted values."""
    if selection is None:
        return []
    known = {definition.key: definition for definition in definitions}
    predictions = [(key, selection.predicted[key]) for key in selection.selected if key in known]
    return [
        Selected(
            key=key,
            name=known[key].name,
            value=prediction["value"],
            probability=1 - prediction["sigma"],
            relevance=prediction["relevance"],
            meaning=known[key].meanings.get(prediction["value"], ""),
            is_open=not known[key].values,
        )
        for key, prediction in predictions
    ]


def history_of(message: Message, now: datetime) -> OfferHistory:
    """The author's offers before this message."""
    offered = Decision.objects.filter(author=message.author_id).exclude(item_ref="")
    newest = offered.order_by("-pk").values_list("message_id", "item_ref", "created_at")
    rows = list(newest[:LOOKED_AT])
    if not rows:
        return OfferHistory()
    written = Message.objects.by_authors().filter(author=message.author_id, pk__lte=message.pk)
    order = list(written.order_by("-pk").values_list("pk", flat=True)[:MESSAGES])
    places = {pk: place for place, pk in enumerate(order)}
    return OfferHistory(
        messages_since=places.get(rows[0][0], MESSAGES),
        seconds_since=(now - rows[0][2]).total_seconds(),
        resting=frozenset(
            ref for pk, ref, _ in rows if places.get(pk, MESSAGES) < SAME_ITEM_MESSAGES
        ),
    )


def offer_rule_of(echo: Echo) -> OfferRule:
    """The site's rule for offers."""
    return OfferRule(
        least_match=echo.offer_least_match,
        every_messages=echo.offer_every_messages,
        min_seconds=echo.offer_min_seconds,
        exploring=echo.offer_explore,
    )


def _draw(message: Message, what: str) -> float:
    """A pseudo-random number, the same for the same message."""
    site, author = message.author.site.public_key, message.author.uid.hex
    return sampling_draw(f"{what} {site}", author, message.ref)


#: A draw above any share of random offers.
NOT_DRAWN = 0.999


@dataclass(frozen=True, slots=True)
class OfferPreview:
    """The offer that a text would get.

    Args:
        text: as models would see it.
        dropped: why such a message never gets an offer; "" if it may get one.
        decision: for an author without earlier offers; None if the message was dropped.
        matches: fitting items, best first.
        selected: the selected features.
    """

    text: str
    dropped: str = ""
    decision: OfferDecision | None = None
    matches: Sequence[Match] = ()
    selected: Sequence[Selected] = ()


def preview_offer(echo: Echo, text: str, open_models: OpenModels = shared_gateway) -> OfferPreview:
    """Match a text as an author's first message, without random offers."""
    run = dry_run(echo.site, text, open_models)
    if not _is_ordinary(run):
        return OfferPreview(run.text, run.reason or run.dropped_at)
    message = Message(author=Author(site=echo.site), text=run.text, language=run.language)
    selected = selected_of(preview_selection(message), config_of(echo.site).definitions)
    matches = match(index_of(echo), OfferContext(message_text=run.text, selected=selected))
    decision = decide(offer_rule_of(echo), matches, OfferHistory(), draw=NOT_DRAWN)
    return OfferPreview(run.text, "", decision, matches, selected)


def _is_ordinary(run: DryRun) -> bool:
    """Whether the model has judged the text as ordinary; only such messages get offers."""
    if run.dropped_at == "relevance":
        return run.reason == "none_relevant"
    return run.dropped_at in ("", *AFTER_JUDGEMENT)
