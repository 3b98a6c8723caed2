"""Policies that rank a catalogue for a message, and the decision whether to show an offer.

All policies have one form, so that an experiment changes only the name of the policy. What a policy
ranks still has to pass :func:`decide`, with the thresholds of :func:`rule_of`: scores of different
policies are on different scales. Source: paper 004, sections 3.3, 4 ("makes a final decision to
display") and 4.1 (a baseline that matches keywords).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from labelhub.core.echo.recommending.matching import (
    MOST,
    READ,
    ItemIndex,
    Match,
    OfferContext,
    match,
    terms,
)


class Why(StrEnum):
    """The reason of a decision, for or against."""

    GOOD_MATCH = "good_match"
    EXPLORING = "exploring"
    TOO_FEW_MESSAGES = "too_few_messages"
    TOO_SOON = "too_soon"
    NO_MATCH = "no_match"
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
        exploring: share of the other messages for which a candidate is drawn at random, below 1.
    """

    least_match: float = 0.12
    least_topic: float = 0.05
    every_messages: int = 4
    min_seconds: float = 120.0
    exploring: float = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferHistory:
    """The offers to one author so far.

    Args:
        messages_since: messages since the last offer, including the present one.
        seconds_since: the time since then; negative after a clock was set back.
        resting: ids of the items that were offered too recently to be offered again.
    """

    messages_since: float = math.inf
    seconds_since: float = math.inf
    resting: frozenset[str] = frozenset()


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


def decide(
    rule: OfferRule, matches: Sequence[Match], history: OfferHistory, *, draw: float
) -> OfferDecision:
    """Whether to offer one of ``matches`` to the author of the present message.

    Offers are rare, and only shown if an item fits. A small share of messages explores: one of the
    candidates is drawn regardless of the thresholds, so that rewards beyond them can be learnt. The
    decision has its propensity, for estimates from the log (Horvitz and Thompson, 1952).

    Args:
        rule: the site's limits.
        matches: candidates, the best first, as a policy ranks them, without resting items.
        history: of this author.
        draw: in [0, 1); the same for the same message.

    Returns:
        the decision; its reason is the first one against an offer, in the order of :class:`Why`.
    """
    if history.messages_since < rule.every_messages:
        return OfferDecision(None, Why.TOO_FEW_MESSAGES, 1.0)
    if history.seconds_since < rule.min_seconds:
        return OfferDecision(None, Why.TOO_SOON, 1.0)
    if not matches:
        return OfferDecision(None, Why.NO_MATCH, 1.0)
    chosen, why = _chosen(rule, matches)
    # Times the probability of the policy's own draw, if it drew the item.
    odds = {match.item.id: rule.exploring / len(matches) * match.propensity for match in matches}
    if chosen is not None:
        odds[chosen.item.id] += (1.0 - rule.exploring) * chosen.propensity
    if draw < rule.exploring:
        # Below the share the draw is uniform again and picks the candidate.
        place = min(math.floor(draw / rule.exploring * len(matches)), len(matches) - 1)
        chosen, why = matches[place], Why.EXPLORING
    propensity = odds[chosen.item.id] if chosen else 1.0 - rule.exploring
    return OfferDecision(chosen, why, propensity, odds)


def _chosen(rule: OfferRule, matches: Sequence[Match]) -> tuple[Match | None, Why]:
    """The best candidate that passes all thresholds, else why the best one does not."""
    strong = [match for match in matches if match.score >= rule.least_match]
    if not strong:
        return None, Why.WEAK_MATCH
    found = next((m for m in strong if m.from_message + m.from_context >= rule.least_topic), None)
    return found, Why.GOOD_MATCH if found else Why.OFF_TOPIC


def keyword(index: ItemIndex, moment: OfferContext) -> list[Match]:
    """Rank by the number of the message's words in an item's title or tags, without features.

    The score is that number; equal items keep the order of the catalogue.
    """
    wanted = terms(moment.message_text[:READ])
    counts = [float(len(names.intersection(wanted))) for names in index.names]
    among = [
        place
        for place, item in enumerate(index.items)
        if counts[place] and item.id not in moment.exclude
    ]
    return [
        Match(index.items[place], counts[place], counts[place], shared=index.shared(place, wanted))
        for place in sorted(among, key=lambda place: -counts[place])[:MOST]
    ]


def random(index: ItemIndex, moment: OfferContext) -> list[Match]:
    """Draw one item uniformly; its propensity is the probability."""
    among = [item for item in index.items if item.id not in moment.exclude]
    if not among:
        return []
    item = among[min(math.floor(moment.draw * len(among)), len(among) - 1)]
    return [Match(item, 0.0, propensity=1.0 / len(among))]


#: Matches for a moment, the best first.
Policy: TypeAlias = Callable[[ItemIndex, OfferContext], list[Match]]
ECHO, KEYWORD, RANDOM, NOTHING = "echo", "keyword", "random", "nothing"
POLICIES: Mapping[str, Policy] = {
    ECHO: match,
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
