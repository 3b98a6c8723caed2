"""Policies that rank a catalogue for a message, and the decision whether to show an offer.

All policies have one form, so that an experiment changes only the name of the policy. What a policy
ranks still has to pass :func:`decide`, with the thresholds of :func:`rule_of`: scores of different
policies are on different scales. Source: paper 004, sections 3.3, 4 ("makes a final decision to
display") and 4.1 (a baseline that matches keywords).
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from heapq import nsmallest
from typing import TypeAlias

from labelhub.core.echo.recommending.item_index import ItemIndex, Selected, terms
from labelhub.core.echo.recommending.matching import READ, Match, Meanings, match


class Why(StrEnum):
    """The reason of a decision, for or against."""

    GOOD_MATCH = "good_match"
    EXPLORING = "exploring"
    SENSITIVE = "sensitive"
    TOO_FEW_MESSAGES = "too_few_messages"
    TOO_SOON = "too_soon"
    NO_MATCH = "no_match"
    SHOWN_BEFORE = "shown_before"
    WEAK_MATCH = "weak_match"
    OFF_TOPIC = "off_topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferRule:
    """A site's limits, for one author.

    Args:
        least_match: the least score of an item.
        least_topic: the least part of the score from words of the conversation, so that an item is
            not shown only because its attributes suit everybody.
        every_messages: at most one offer in so many of the author's messages.
        min_seconds: the least time between two offers.
        same_item_messages: the least number of messages before the same item again.
        exploring: share of the other messages for which a candidate is drawn at random, below 1.
    """

    least_match: float = 0.12
    least_topic: float = 0.05
    every_messages: int = 4
    min_seconds: float = 120.0
    same_item_messages: int = 40
    exploring: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferHistory:
    """The offers to one author so far.

    Args:
        messages_since: messages since the last offer, including the present one; None without one.
        seconds_since: the time since then.
        items: id of an item → messages since its last offer, counted alike.
    """

    messages_since: int | None = None
    seconds_since: float | None = None
    items: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OfferDecision:
    """The decision on an offer.

    Args:
        match: the offered item; None without an offer.
        why: the reason for or against.
        propensity: probability of this decision, given the history and the candidates; for an item
            that its policy drew, given the history alone.
        item_propensities: id of a candidate's item → its probability of being offered.
    """

    match: Match | None
    why: Why
    propensity: float
    item_propensities: Mapping[str, float] = field(default_factory=dict)


def resting_items(rule: OfferRule, history: OfferHistory) -> frozenset[str]:
    """Ids of the items that were offered to this author too recently."""
    return frozenset(
        item for item, since in history.items.items() if since < rule.same_item_messages
    )


def decide(
    rule: OfferRule,
    matches: Sequence[Match],
    history: OfferHistory,
    *,
    sensitive: bool,
    draw: float,
) -> OfferDecision:
    """Whether to offer one of ``matches`` to the author of the present message.

    Offers are rare, not repeated soon, never shown with sensitive messages, and only shown if an
    item fits. A small share of messages explores: one of the candidates is drawn regardless of the
    thresholds, so that rewards beyond them can be learnt. The decision has its propensity, for
    estimates from the log (Horvitz and Thompson, 1952).

    Args:
        rule: the site's limits.
        matches: candidates, the best first, as a policy ranks them.
        history: of this author.
        sensitive: the message was dropped as sensitive.
        draw: in [0, 1); the same for the same message.

    Returns:
        the decision; its reason is the first one against an offer, in the order of :class:`Why`.
    """
    if forbidden := _forbidden(rule, history, sensitive=sensitive):
        return OfferDecision(None, forbidden, 1.0)
    resting = resting_items(rule, history)
    left = [match for match in matches if match.item.id not in resting]
    if not left:
        return OfferDecision(None, Why.SHOWN_BEFORE if matches else Why.NO_MATCH, 1.0)
    chosen, why = _chosen(rule, left)
    # Times the probability of the policy's own draw, if it drew the item.
    odds = {match.item.id: rule.exploring / len(left) * match.propensity for match in left}
    if chosen is not None:
        odds[chosen.item.id] += (1.0 - rule.exploring) * chosen.propensity
    if draw < rule.exploring:
        # Below the share the draw is uniform again and picks the candidate.
        place = min(math.floor(draw / rule.exploring * len(left)), len(left) - 1)
        chosen, why = left[place], Why.EXPLORING
    propensity = odds[chosen.item.id] if chosen else 1.0 - rule.exploring
    return OfferDecision(chosen, why, propensity, odds)


def _forbidden(rule: OfferRule, history: OfferHistory, *, sensitive: bool) -> Why | None:
    if sensitive:
        return Why.SENSITIVE
    if history.messages_since is not None and history.messages_since < rule.every_messages:
        return Why.TOO_FEW_MESSAGES
    # After a clock was set back the time may be negative, which is too soon.
    if history.seconds_since is not None and history.seconds_since < rule.min_seconds:
        return Why.TOO_SOON
    return None


def _chosen(rule: OfferRule, left: Sequence[Match]) -> tuple[Match | None, Why]:
    """The best candidate that passes all thresholds, else why the best one does not."""
    strong = [match for match in left if match.score >= rule.least_match]
    if not strong:
        return None, Why.WEAK_MATCH
    found = next((m for m in strong if m.from_message + m.from_context >= rule.least_topic), None)
    return found, Why.GOOD_MATCH if found else Why.OFF_TOPIC


ECHO, KEYWORD, RANDOM, NOTHING = "echo", "keyword", "random", "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferContext:
    """The input of a policy for a message.

    Args:
        message_text: what the author wrote, already redacted.
        context: the messages before, the latest last.
        selected: the features that go downstream.
        meanings: words for their values.
        exclude: ids of items that must not match.
        draw: in [0, 1), for a policy that draws; independent of that of :func:`decide`.
        count: the most matches.
    """

    message_text: str
    context: Sequence[str] = ()
    selected: Sequence[Selected] = ()
    meanings: Meanings | None = None
    exclude: Collection[str] = ()
    draw: float = 0.0
    count: int = 5


#: Matches for a moment, the best first.
Policy: TypeAlias = Callable[[ItemIndex, OfferContext], list[Match]]


def echo(index: ItemIndex, moment: OfferContext) -> list[Match]:
    """Rank by the message and the selected features: :func:`.matching.match`."""
    return match(
        index,
        moment.message_text,
        moment.context,
        moment.selected,
        meanings=moment.meanings,
        exclude=moment.exclude,
        count=moment.count,
    )


def keyword(index: ItemIndex, moment: OfferContext) -> list[Match]:
    """Rank by the number of the message's words in an item's title or tags, without features.

    The score is that number; equal items keep the order of the catalogue.
    """
    wanted = terms(moment.message_text[:READ])
    counts = index.named(wanted)
    among = [
        place
        for place, count in enumerate(counts)
        if count and index.items[place].id not in moment.exclude
    ]
    return [
        Match(
            index.items[place],
            float(counts[place]),
            from_message=float(counts[place]),
            shared=index.shared(place, wanted),
        )
        for place in nsmallest(max(0, moment.count), among, key=lambda place: -counts[place])
    ]


def random(index: ItemIndex, moment: OfferContext) -> list[Match]:
    """Draw one item uniformly; its propensity is the probability."""
    among = [item for item in index.items if item.id not in moment.exclude]
    if not among or moment.count < 1:
        return []
    item = among[min(math.floor(moment.draw * len(among)), len(among) - 1)]
    return [Match(item, 0.0, propensity=1.0 / len(among))]


POLICIES: Mapping[str, Policy] = {
    ECHO: echo,
    KEYWORD: keyword,
    RANDOM: random,
    NOTHING: lambda _index, _moment: [],
}


def rule_of(name: str, rule: OfferRule) -> OfferRule:
    """``rule`` for a policy: the same caps, and thresholds on its own scale.

    A baseline has no features and does not explore: keywords need one common word, random items
    need nothing.
    """
    if name == ECHO:
        return rule
    least = 1.0 if name == KEYWORD else 0.0
    return replace(rule, least_match=least, least_topic=0.0, exploring=0.0)
