"""Ways to rank a catalogue for a message: Echo's, and those that it is measured against.

All have one form, so that an experiment changes nothing but the name of the policy. What a policy
ranks still has to pass :func:`.deciding.decide`, with the thresholds of :func:`rule_of`: scores of
different policies are on different scales. Source: paper 004, sections 4.1 (a baseline that matches
keywords) and 3.3.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import TypeAlias

from labelhub.core.echo.recommending.deciding import OfferRule
from labelhub.core.echo.recommending.item_index import ItemIndex
from labelhub.core.echo.recommending.matching import READ, Match, Meanings, Weights, match
from labelhub.core.echo.recommending.terms import terms
from labelhub.core.echo.selected import Selected
from labelhub.core.errors import InvalidInput

ECHO, KEYWORD, RANDOM, NOTHING = "echo", "keyword", "random", "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """All that a policy may know of a message; each takes what it needs.

    Args:
        message_text: what the author wrote, already redacted.
        context: what was said before it, the latest last.
        selected: the features that go downstream.
        meanings: words for their values.
        weights: of the message against the features.
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
    weights: Weights | None = None
    exclude: Collection[str] = ()
    draw: float = 0.0
    count: int = 5

    def __post_init__(self) -> None:
        if not 0 <= self.draw < 1:
            raise InvalidInput.at("draw", "must be from 0 up to, but not, 1.")


#: Matches for a moment, the best first.
Policy: TypeAlias = Callable[[ItemIndex, Moment], list[Match]]


def echo(index: ItemIndex, moment: Moment) -> list[Match]:
    """By the message and the selected features: :func:`.matching.match`."""
    return match(
        index,
        moment.message_text,
        moment.context,
        moment.selected,
        meanings=moment.meanings,
        weights=moment.weights,
        exclude=moment.exclude,
        count=moment.count,
    )


def keyword(index: ItemIndex, moment: Moment) -> list[Match]:
    """By how many of the message's words are in an item's title or tags; no features.

    The score is that number; equally good items keep the order of the catalogue.
    """
    wanted = tuple(dict.fromkeys(terms(moment.message_text[:READ])))
    counts = index.named(wanted)
    among = (at for at in counts if index.items[at].id not in moment.exclude)
    kept = nsmallest(max(0, moment.count), among, key=lambda at: (-counts[at], at))
    return [
        Match(
            index.items[at],
            float(counts[at]),
            from_message=float(counts[at]),
            shared=index.shared(at, wanted),
        )
        for at in kept
    ]


def random(index: ItemIndex, moment: Moment) -> list[Match]:
    """One item, each as likely as any other; the propensity says how likely."""
    among = [item for item in index.items if item.id not in moment.exclude]
    if not among or moment.count < 1:
        return []
    item = among[min(math.floor(moment.draw * len(among)), len(among) - 1)]
    return [Match(item, 0.0, propensity=1.0 / len(among))]


def nothing(_index: ItemIndex, _moment: Moment) -> list[Match]:
    """Never anything: what happens without offers."""
    return []


POLICIES: Mapping[str, Policy] = {
    ECHO: echo,
    KEYWORD: keyword,
    RANDOM: random,
    NOTHING: nothing,
}


def policy_of(name: str) -> Policy:
    """The policy of that name.

    Raises:
        InvalidInput: there is none.
    """
    if name not in POLICIES:
        raise InvalidInput.at("policy", f"must be one of {', '.join(POLICIES)}.")
    return POLICIES[name]


def rule_of(name: str, rule: OfferRule) -> OfferRule:
    """``rule`` for a policy: the same caps, and thresholds on its own scale.

    A baseline knows neither features nor a prediction of success, and does not explore: keywords
    need one word in common, and what is drawn needs nothing.
    """
    if name == ECHO:
        return rule
    least = 1.0 if name == KEYWORD else 0.0
    return replace(rule, least_match=least, least_topic=0.0, least_success=0.0, exploring=0.0)
