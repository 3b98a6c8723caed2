"""The signs one by one: from counts to a strength between 0 and 1, and the words for it.

0 is what honest authors do, 1 what hardly any does; thresholds between are stated here and nowhere
else. A sign stays silent until there is enough to go by. Shares count by their lower Wilson bound:
three of three is not yet a habit.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from math import log10
from typing import TypeAlias

from labelhub.core.interview.trust.chance import binomial_tail, wilson
from labelhub.core.interview.trust.evidence import TrustEvidence

#: Strength and the words for it.
Found: TypeAlias = tuple[float, str]

#: Below these numbers a sign is silent.
LEAST_ATTEMPTS, LEAST_POSITIONS, LEAST_TIMED, LEAST_MESSAGES = 8, 5, 8, 8
LEAST_STEADY, LEAST_EXPECTED = 12, 12
#: How much more often than by chance others must give the expected answer before it tells anything.
LEAST_LEAD = 0.15
LEAST_REASKS, LEAST_SURVEYS, LEAST_ABSTENTIONS = 4, 5, 10
#: Two countries within this time are no journey.
TRAVEL = timedelta(minutes=60)
#: Of honest answers at least this share, and of honest reactions at most this share, are "none of
#: these fit" or "skip": what never or always abstaining is held against.
SOME_ABSTAIN, MOST_ABSTAIN = 0.05, 0.5

_COUNTRY = re.compile("[A-Z]{2}")
#: What proxies write where they do not know (XX, ZZ).
_NO_COUNTRY = {"XX", "ZZ"}


def early(seen: TrustEvidence) -> Found:
    """Options chosen before the question can have been read: 10 % is haste, 35 % a habit."""
    tries = seen.early_attempts + seen.answers
    if tries < LEAST_ATTEMPTS:
        return 0.0, ""
    strength = _ramp(wilson(seen.early_attempts, tries).low, 0.10, 0.35)
    return strength, f"{seen.early_attempts} of {tries} choices came too early to have read"


def same_position(seen: TrustEvidence) -> Found:
    """The same place again and again, though the options are shuffled.

    The exact chance of a place so favoured among equally likely ones (times the places, of which
    any might have been it): below 0.01 it counts, at 0.00001 in full. It must also be a large part
    of the answers, since among hundreds a slight liking for the first place is not carelessness.
    """
    n = len(seen.positions)
    if n < LEAST_POSITIONS:
        return 0.0, ""
    place, most = max(Counter(seen.positions).items(), key=lambda each: (each[1], -each[0]))
    chance = min(1.0, seen.options * binomial_tail(most, n, 1 / seen.options))
    likely = _ramp(_unlikeliness(chance), 2, 5)
    large = _ramp(most / n, 1 / seen.options + 0.15, 0.8)
    words = f"{most} of {n} answers at place {place + 1} of {seen.options} after shuffling"
    return min(likely, large), f"{words} (chance {chance:.2g})"


def abstaining(seen: TrustEvidence) -> Found:
    """Never, or always, "none of these fit" or "skip", over more questions than chance explains."""
    abstained = seen.nofit + seen.skips
    n = seen.answers + abstained
    if n < LEAST_ABSTENTIONS or (abstained and seen.answers):
        return 0.0, ""
    share = MOST_ABSTAIN if abstained else 1 - SOME_ABSTAIN
    words = "abstained from all" if abstained else "never abstained from any"
    return _ramp(-n * log10(share), 1, 3), f"{words} of {n} questions"


def inconsistent(seen: TrustEvidence) -> Found:
    """Other answers when asked again; below 40 % agreement they might as well be drawn."""
    if seen.reask_total < LEAST_REASKS:
        return 0.0, ""
    agreed = wilson(seen.reask_agreed, seen.reask_total).high
    words = f"{seen.reask_agreed} of {seen.reask_total} questions asked again got the same answer"
    return 1 - _ramp(agreed, 0.4, 0.8), words


def instant(seen: TrustEvidence) -> Found:
    """Answers at the very moment they are allowed: faster than anybody sees and moves."""
    if seen.median_over_ms is None or seen.answers < LEAST_TIMED:
        return 0.0, ""
    words = f"half of {seen.answers} answers within {seen.median_over_ms:.0f} ms of the minimum"
    return 1 - _ramp(seen.median_over_ms, 100, 400), words


def steady(seen: TrustEvidence) -> Found:
    """Hardly an answer later than the moment it is allowed. People wait for that moment too, but
    now and then read longer, look up or think. It counts half for somebody who also clicks before
    the time: they are impatient, which explains it, and is a sign of its own."""
    if seen.late_over_ms is None or seen.answers < LEAST_STEADY:
        return 0.0, ""
    words = f"nineteen in twenty of {seen.answers} answers within {seen.late_over_ms:.0f} ms"
    strength = (1 - _ramp(seen.late_over_ms, 300, 800)) * (1 - early(seen)[0] / 2)
    return strength, f"{words} of the minimum"


def guessing(seen: TrustEvidence) -> Found:
    """Answers that agree with what is expected no more than random clicks would, at a site where
    those of others do: how much likelier that is by chance than for somebody whom models read half
    as well as the others. Ten times is a doubt, a thousand times a finding."""
    chance, usual = 1 / seen.options, seen.usual_agreement
    if usual is None or seen.expected_total < LEAST_EXPECTED or not telling(seen):
        return 0.0, ""
    read = chance + (usual - chance) / 2
    missed = seen.expected_total - seen.expected_agreed
    odds = seen.expected_agreed * log10(chance / read) + missed * log10((1 - chance) / (1 - read))
    words = f"{seen.expected_agreed} of {seen.expected_total} answers were the expected ones"
    return _ramp(odds, 1, 3), f"{words}, as by chance; of others {usual:.0%}"


def telling(seen: TrustEvidence) -> bool:
    """Whether models read the site's other authors well enough to hold somebody against it."""
    usual = seen.usual_agreement
    return usual is not None and usual - 1 / seen.options >= LEAST_LEAD


def sense(seen: TrustEvidence) -> float:
    """What speaks for an author, from 0 to 1: answers that a model, which read what they wrote,
    expected more often than random clicks would be. A chance of 0.05 counts for nothing, one of
    0.001 in full. To answer alike when asked again is no such proof: any rule does."""
    chance = binomial_tail(seen.expected_agreed, seen.expected_total, 1 / seen.options)
    return _ramp(_unlikeliness(chance), 1.3, 3)


def many_answers(seen: TrustEvidence) -> Found:
    """More answers in an hour than a conversation gives cause for."""
    words = f"{seen.answers_per_hour:.0f} answers in one hour"
    return _ramp(seen.answers_per_hour, 20, 60), words


def flood(seen: TrustEvidence) -> Found:
    """More messages in a minute than hands type."""
    words = f"{seen.messages_per_minute:.0f} messages in one minute"
    return _ramp(seen.messages_per_minute, 10, 30), words


def repeating(seen: TrustEvidence) -> Found:
    """Nearly the same message again and again."""
    if seen.messages < LEAST_MESSAGES:
        return 0.0, ""
    words = f"{seen.duplicate_share:.0%} of {seen.messages} messages nearly repeat another"
    return _ramp(seen.duplicate_share, 0.3, 0.8), words


def machine_like(seen: TrustEvidence) -> Found:
    """Messages no person seems to have written."""
    if seen.messages < LEAST_MESSAGES:
        return 0.0, ""
    words = f"{seen.machine_like_share:.0%} of {seen.messages} messages look machine-made"
    return _ramp(seen.machine_like_share, 0.2, 0.6), words


def eliciting(seen: TrustEvidence) -> Found:
    """Messages sent only to be asked, and paid, as paper 004 (B.2) found and filtered."""
    if seen.surveys < LEAST_SURVEYS:
        return 0.0, ""
    words = f"{seen.eliciting} of {seen.surveys} surveys came after a repeated or empty message"
    return _ramp(wilson(seen.eliciting, seen.surveys).low, 0.3, 0.7), words


def travel(seen: TrustEvidence) -> Found:
    """From one country to another within the hour: once is a border, four times a disguise."""
    jumps = _jumps(seen.countries)
    minutes = TRAVEL.seconds // 60
    n = len(seen.countries)
    words = f"{jumps} of {n} sightings in another country within {minutes} minutes"
    return _ramp(jumps, 0, 4), words


def crowded_network(seen: TrustEvidence) -> Found:
    """Many authors behind one address block; says nothing where the host vouches for each."""
    if seen.verified:
        return 0.0, ""
    words = f"{seen.network_authors} other authors in the same network"
    return _ramp(seen.network_authors, 5, 50), words


def _jumps(countries: Sequence[tuple[datetime, str]]) -> int:
    known = sorted(
        (at, name) for at, name in countries if _COUNTRY.fullmatch(name) and name not in _NO_COUNTRY
    )
    return sum(
        one != other and after - before <= TRAVEL
        for (before, one), (after, other) in pairwise(known)
    )


def _unlikeliness(chance: float) -> float:
    """Decimal places before the first digit; what is too small for a float counts as 300."""
    return -log10(max(chance, 1e-300))


def _ramp(number: float, nothing: float, full: float) -> float:
    """0 up to ``nothing``, 1 from ``full`` on, a straight line between."""
    return min(1.0, max(0.0, (number - nothing) / (full - nothing)))
