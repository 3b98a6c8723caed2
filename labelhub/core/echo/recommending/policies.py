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
from typing import Any, TypeAlias

from labelhub.core.echo.recommending.item_index import ItemIndex, Selected, terms
from labelhub.core.echo.recommending.matching import READ, Match, Meanings, match
from labelhub.core.errors import InvalidInput


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
        least_match: score that an item needs.
        least_topic: how much of its score must come from the conversation's own words, so that an
            item is not shown because its attributes suit everybody.
        every_messages: at most one offer in so many of the author's messages.
        min_seconds: and so far apart.
        same_item_messages: the same item again after so many messages at the earliest.
        exploring: share of the messages left by the caps for which a candidate is drawn.

    Raises:
        InvalidInput: a number is out of its range.
    """

    least_match: float = 0.12
    least_topic: float = 0.05
    every_messages: int = 4
    min_seconds: float = 120.0
    same_item_messages: int = 40
    exploring: float = 0.05

    def __post_init__(self) -> None:
        for name, (least, most) in _RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise InvalidInput.at(name, f"must be from {least} to {most}.")


_RANGES: Mapping[str, tuple[Any, Any]] = {
    "least_match": (0, 1_000),
    "least_topic": (0, 1_000),
    "every_messages": (1, 10_000),
    "min_seconds": (0, 31_536_000),
    "same_item_messages": (1, 1_000_000),
    "exploring": (0, 0.5),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferHistory:
    """What one author was offered so far.

    Args:
        messages_since: messages since the one last offered at, the present one counted; None where
            there was no offer yet.
        seconds_since: the time since then.
        items: messages since an item was last offered, counted alike, by its id.
    """

    messages_since: int | None = None
    seconds_since: float | None = None
    items: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OfferDecision:
    """What to show, if anything.

    Args:
        match: what is offered; None where nothing is.
        why: the reason, either way.
        propensity: how likely just this was, given the history and the candidates; for an item
            that its policy drew, given the history alone.
        item_propensities: how likely each candidate was to be offered, by its item's id.
    """

    match: Match | None
    why: Why
    propensity: float
    item_propensities: Mapping[str, float] = field(default_factory=dict)


def resting_items(rule: OfferRule, history: OfferHistory) -> frozenset[str]:
    """Ids of the items that this author was offered too lately to be offered them again."""
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

    An offer is rare, never the same one again and again, never beside what is sensitive, and only
    where something fits. A small share of messages explores: one of the candidates is drawn,
    whatever the thresholds are, so that what lies beyond them can be learnt. The decision holds its
    own propensity, for estimates from the log (Horvitz and Thompson, 1952).

    Args:
        rule: the site's limits.
        matches: candidates, the best first, as a policy ranks them.
        history: of this author.
        sensitive: the message was dropped as sensitive.
        draw: from 0 up to but not including 1; the same one for the same message.

    Returns:
        the decision; its reason is the first that forbids, in the order of :class:`Why`.

    Raises:
        InvalidInput: ``draw`` is out of its range.
    """
    if not 0 <= draw < 1:
        raise InvalidInput.at("draw", "must be from 0 up to, but not, 1.")
    if forbidden := _forbidden(rule, history, sensitive=sensitive):
        return OfferDecision(None, forbidden, 1.0)
    resting = resting_items(rule, history)
    left = [match for match in matches if match.item.id not in resting]
    if not left:
        return OfferDecision(None, Why.SHOWN_BEFORE if matches else Why.NO_MATCH, 1.0)
    chosen, why = _chosen(rule, left)
    # One that its policy drew is likely by that draw as well.
    odds = {match.item.id: rule.exploring / len(left) * match.propensity for match in left}
    if chosen is not None:
        odds[chosen.item.id] += (1.0 - rule.exploring) * chosen.propensity
    if draw < rule.exploring:
        # The rest of the same draw picks the candidate: given that it is below, it is uniform.
        place = min(math.floor(draw / rule.exploring * len(left)), len(left) - 1)
        chosen, why = left[place], Why.EXPLORING
    propensity = odds[chosen.item.id] if chosen else 1.0 - rule.exploring
    return OfferDecision(chosen, why, propensity, odds)


def _forbidden(rule: OfferRule, history: OfferHistory, *, sensitive: bool) -> Why | None:
    if sensitive:
        return Why.SENSITIVE
    if history.messages_since is not None and history.messages_since < rule.every_messages:
        return Why.TOO_FEW_MESSAGES
    # A clock that was put back tells nothing: a time below 0 is too soon.
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
    """All that a policy may know of a message; each takes what it needs.

    Args:
        message_text: what the author wrote, already redacted.
        context: what was said before it, the latest last.
        selected: the features that go downstream.
        meanings: words for their values.
        exclude: ids of items that are out of the question.
        draw: from 0 up to but not including 1, for a policy that draws; another number than the
            one that is decided by.
        count: how many matches at most.

    Raises:
        InvalidInput: ``draw`` is out of its range.
    """

    message_text: str
    context: Sequence[str] = ()
    selected: Sequence[Selected] = ()
    meanings: Meanings | None = None
    exclude: Collection[str] = ()
    draw: float = 0.0
    count: int = 5

    def __post_init__(self) -> None:
        if not 0 <= self.draw < 1:
            raise InvalidInput.at("draw", "must be from 0 up to, but not, 1.")


#: Matches for a moment, the best first.
Policy: TypeAlias = Callable[[ItemIndex, OfferContext], list[Match]]


def echo(index: ItemIndex, moment: OfferContext) -> list[Match]:
    """By the message and the selected features: :func:`.matching.match`."""
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
    """By how many of the message's words are in an item's title or tags; no features.

    The score is that number; equally good items keep the order of the catalogue.
    """
    wanted = tuple(dict.fromkeys(terms(moment.message_text[:READ])))
    counts = index.named(wanted)
    among = (place for place in counts if index.items[place].id not in moment.exclude)
    kept = nsmallest(max(0, moment.count), among, key=lambda place: (-counts[place], place))
    return [
        Match(
            index.items[place],
            float(counts[place]),
            from_message=float(counts[place]),
            shared=index.shared(place, wanted),
        )
        for place in kept
    ]


def random(index: ItemIndex, moment: OfferContext) -> list[Match]:
    """One item, each as likely as any other; the propensity says how likely."""
    among = [item for item in index.items if item.id not in moment.exclude]
    if not among or moment.count < 1:
        return []
    item = among[min(math.floor(moment.draw * len(among)), len(among) - 1)]
    return [Match(item, 0.0, propensity=1.0 / len(among))]


def nothing(_index: ItemIndex, _moment: OfferContext) -> list[Match]:
    """Never anything: what happens without offers."""
    return []


POLICIES: Mapping[str, Policy] = {
    ECHO: echo,
    KEYWORD: keyword,
    RANDOM: random,
    NOTHING: nothing,
}


def rule_of(name: str, rule: OfferRule) -> OfferRule:
    """``rule`` for a policy: the same caps, and thresholds on its own scale.

    A baseline knows no features and does not explore: keywords need one word in common, and what
    is drawn needs nothing.
    """
    if name == ECHO:
        return rule
    least = 1.0 if name == KEYWORD else 0.0
    return replace(rule, least_match=least, least_topic=0.0, exploring=0.0)
