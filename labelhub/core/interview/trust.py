"""Whether an author's answers count: weak signs of fraud and carelessness, combined.

Each sign has a strength from 0 (honest authors do this) to 1 (hardly any honest author does) with
its numbers in words; without enough data it is 0. Shares count by their lower Wilson bound: three
of three is not yet a habit.

Trust is a sum of log-odds in which no single sign reaches the threshold. An author about whom
nothing is known begins at +2.5 (a trust of 0.92). A strong sign takes at most 2.0, a weak one less
than 0.5: none alone brings trust below 0.5, nor does a strong one with one weak beside it; any two
strong ones in full do. Of signs with the same root (a message sent five times is repeated, and
looks sent to be asked) the strongest counts in full and the others half. Answers that make sense
(:func:`sense`) speak for an author, and take back up to 1.5.

Payment needs more than trust: enough answers, which agree with other knowledge more often than
random clicks. Labels of authors with low trust are stored with weight 0 and their rewards withheld;
nobody is locked out.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import exp, log10
from typing import TypeAlias

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.chance import binomial_tail, wilson
from labelhub.core.interview.features import OPTIONS
from labelhub.core.phrases import Phrase

#: The most texts to compare and the most characters of each: similar texts show early.
MOST_TEXTS, MOST_READ = 50, 2_000
#: Near-duplicates share at least this part of their runs of three words (Jaccard index).
ALIKE = 0.6
RUN = 3
#: The fewest words of a message worth a question.
LEAST_WORDS = 3

#: Scripts without blanks: each character counts as a word. Marks belong to the letter before.
_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_DENSE}]|(?:(?![{_DENSE}])[\w\u0300-\u036f\u0900-\u0dff])+")


def near_duplicates(texts: Sequence[str]) -> float:
    """The share of ``texts`` that nearly equal another of them; 0 for fewer than two.

    By the exact Jaccard index of runs of three words, over the last 50 texts.
    """
    runs = [_runs(text) for text in texts[-MOST_TEXTS:]]
    twins = {
        place
        for first in range(len(runs))
        for second in range(first + 1, len(runs))
        if _alike(runs[first], runs[second])
        for place in (first, second)
    }
    return len(twins) / len(runs) if runs else 0.0


def elicits(text: str, earlier: Sequence[str]) -> bool:
    """Whether ``text`` looks sent only to get a question: almost empty, or a repetition.

    Args:
        text: the message right before a survey.
        earlier: the author's earlier messages; the last 50 count.
    """
    if len(_text_words(text)) < LEAST_WORDS:
        return True
    runs = _runs(text)
    return any(_alike(runs, _runs(other)) for other in earlier[-MOST_TEXTS:])


def _text_words(text: str) -> list[str]:
    return _WORD.findall(text[:MOST_READ].casefold())


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _text_words(text)
    count = max(1, len(words) - RUN + 1)
    # A text without words is compared by its signs: "???" equals "???".
    return frozenset(
        tuple(words[index : index + RUN]) or (text[:MOST_READ].strip(),) for index in range(count)
    )


def _alike(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> bool:
    fewer, more = sorted((len(first), len(second)))
    if fewer < ALIKE * more:
        return False
    shared = len(first & second)
    return shared >= ALIKE * (fewer + more - shared)


_SHARES = ("duplicate_share", "machine_like_share")
_PARTS = (
    ("reask_agreed", "reask_total"),
    ("expected_agreed", "expected_total"),
    ("eliciting", "surveys"),
)
_NUMBERS = (
    *("answers", "early_attempts", "nofit", "skips", "reask_agreed", "reask_total", "messages"),
    *("expected_agreed", "expected_total"),
    *("answers_per_hour", "messages_per_minute", "surveys", "eliciting", "network_authors"),
)


@dataclass(frozen=True, slots=True)
class TrustEvidence:
    """Counts over an author's last weeks; unknown ones keep their defaults.

    answers: answers that stand (not undone), within these counts.
    early_attempts: questions on which an option was chosen too early, each counted once.
    positions: where the chosen options stood (from 0), only of questions whose options were
        shuffled: an ordinal scale is no lottery.
    nofit, skips: "none of these fit"; skipped or closed.
    reask_agreed, reask_total: of questions asked a second time, how many got the same answer.
    answers_per_hour, messages_per_minute: the most in any hour, any minute.
    median_over_ms: the median of how much longer than the minimum an answer took, by the server's
        clock, milliseconds; None when unknown. May be negative by the tolerance.
    late_over_ms: the same of nineteen in twenty: one in twenty answers took longer; None when
        unknown.
    expected_agreed, expected_total: of answers to a choice, how many were the option that a model
        had expected, which no author is told.
    usual_agreement: the same share of the site's other authors who are trusted; None while too few
        are known.
    messages: how many messages the two shares are of: nearly the same as another
        (:func:`~labelhub.core.interview.trust.near_duplicates`); machine-like.
    countries: when which country was seen (two letters, from a header that the host's proxy sets).
    surveys, eliciting: how many surveys, and how many of them came right after a message that
        looks sent for that (:func:`~labelhub.core.interview.trust.elicits`).
    network_authors: other authors of the site in the same network prefix.
    verified: whether the host vouches for who this is.

    Raises:
        InvalidInput: a number is negative, no number, or larger than its whole.
    """

    answers: int = 0
    early_attempts: int = 0
    positions: tuple[int, ...] = ()
    nofit: int = 0
    skips: int = 0
    reask_agreed: int = 0
    reask_total: int = 0
    answers_per_hour: float = 0
    messages_per_minute: float = 0
    median_over_ms: float | None = None
    late_over_ms: float | None = None
    expected_agreed: int = 0
    expected_total: int = 0
    usual_agreement: float | None = None
    messages: int = 0
    duplicate_share: float = 0
    machine_like_share: float = 0
    countries: tuple[tuple[datetime, str], ...] = ()
    surveys: int = 0
    eliciting: int = 0
    network_authors: int = 0
    verified: bool = False

    def __post_init__(self) -> None:
        for field in _NUMBERS:
            if not 0 <= getattr(self, field) < math.inf:
                raise InvalidInput.at(field, Phrase("must be a number from 0 on"))
        for field in _SHARES:
            if not 0 <= getattr(self, field) <= 1:
                raise InvalidInput.at(field, Phrase("must be a share from 0 to 1"))
        self._check_parts()

    def _check_parts(self) -> None:
        for part, whole in _PARTS:
            if getattr(self, part) > getattr(self, whole):
                raise InvalidInput.at(part, Phrase("must not be more than %(whole)s", whole=whole))
        if self.usual_agreement is not None and not 0 <= self.usual_agreement <= 1:
            raise InvalidInput.at("usual_agreement", Phrase("must be a share from 0 to 1"))
        if any(not 0 <= position < OPTIONS for position in self.positions):
            raise InvalidInput.at(
                "positions", Phrase("must each be from 0 to %(value)s", value=OPTIONS - 1)
            )
        for field in ("median_over_ms", "late_over_ms"):
            value = getattr(self, field)
            if value is not None and not math.isfinite(value):
                raise InvalidInput.at(field, Phrase("must be a number"))


#: Strength and the words for it.
Found: TypeAlias = tuple[float, str]

#: With smaller numbers a sign is 0.
LEAST_ATTEMPTS, LEAST_POSITIONS, LEAST_TIMED, LEAST_MESSAGES = 8, 5, 8, 8
LEAST_STEADY, LEAST_EXPECTED = 12, 12
#: The least lead over chance of others' expected answers, for the sign ``guessing``.
LEAST_LEAD = 0.15
LEAST_REASKS, LEAST_SURVEYS, LEAST_ABSTENTIONS = 4, 5, 10
#: Two countries within this time are no journey.
TRAVEL = timedelta(minutes=60)
#: The least and the largest share of "none of these fit" or "skip" in honest reactions.
SOME_ABSTAIN, MOST_ABSTAIN = 0.05, 0.5

_COUNTRY = re.compile("[A-Z]{2}")
#: The codes of proxies for an unknown country.
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
    place, most = max(
        Counter(seen.positions).items(), key=lambda counted: (counted[1], -counted[0])
    )
    chance = min(1.0, OPTIONS * binomial_tail(most, n, 1 / OPTIONS))
    likely = _ramp(_unlikeliness(chance), 2, 5)
    large = _ramp(most / n, 1 / OPTIONS + 0.15, 0.8)
    words = f"{most} of {n} answers at place {place + 1} of {OPTIONS} after shuffling"
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
    chance, usual = 1 / OPTIONS, seen.usual_agreement
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
    return usual is not None and usual - 1 / OPTIONS >= LEAST_LEAD


def sense(seen: TrustEvidence) -> float:
    """What speaks for an author, from 0 to 1: answers that a model, which read what they wrote,
    expected more often than random clicks would be. A chance of 0.05 counts for nothing, one of
    0.001 in full. To answer alike when asked again is no such proof: any rule does."""
    chance = binomial_tail(seen.expected_agreed, seen.expected_total, 1 / OPTIONS)
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
        (moment, name)
        for moment, name in countries
        if _COUNTRY.fullmatch(name) and name not in _NO_COUNTRY
    )
    return sum(
        country != next_country and after - before <= TRAVEL
        for (before, country), (after, next_country) in pairwise(known)
    )


def _unlikeliness(chance: float) -> float:
    """The negative decimal logarithm of ``chance``, at most 300."""
    return -log10(max(chance, 1e-300))


def _ramp(number: float, nothing: float, full: float) -> float:
    """0 up to ``nothing``, 1 from ``full`` on, a straight line between."""
    return min(1.0, max(0.0, (number - nothing) / (full - nothing)))


#: Trust below this is low.
LOW = 0.5
START, VOUCHED = 2.5, 0.3
#: The most that sensible answers give back.
SENSE = 1.5
#: Answers before anything is paid, and how unlikely their agreement must be by chance alone.
LEAST_TO_PAY, BY_CHANCE = 12, 0.01
#: The answers without a sign that suffice if nothing can be compared (a site that asks for words).
WITHOUT_SIGN = 40
#: The factor of the second and further signs of one root.
KIN = 0.5


@dataclass(frozen=True, slots=True)
class TrustSignal:
    """A found sign: its strength in (0, 1] and its reason with the numbers."""

    name: str
    strength: float
    detail: str


@dataclass(frozen=True, slots=True)
class AuthorTrust:
    """The trust in an author's answers: 0 to 1, ``low`` below 0.5, with the signs, gravest first.
    ``proven``: there is enough evidence for the author to be paid."""

    score: float
    low: bool
    signals: tuple[TrustSignal, ...]
    proven: bool = False


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign: its finder, its greatest effect, and the root that it shares with others."""

    find: Callable[[TrustEvidence], Found]
    most: float
    root: str


STRONG, WEAK, FAINT = 2.0, 0.45, 0.3

SIGNS: dict[str, Sign] = {
    "early": Sign(early, STRONG, "haste"),
    "instant": Sign(instant, STRONG, "haste"),
    "steady": Sign(steady, STRONG, "rhythm"),
    "guessing": Sign(guessing, STRONG, "meaning"),
    "same_position": Sign(same_position, STRONG, "choices"),
    "inconsistent": Sign(inconsistent, STRONG, "choices"),
    "abstaining": Sign(abstaining, WEAK, "choices"),
    "many_answers": Sign(many_answers, WEAK, "pace"),
    "flood": Sign(flood, STRONG, "pace"),
    "repeating": Sign(repeating, STRONG, "messages"),
    "machine_like": Sign(machine_like, STRONG, "messages"),
    "eliciting": Sign(eliciting, STRONG, "messages"),
    "travel": Sign(travel, STRONG, "place"),
    "crowded_network": Sign(crowded_network, FAINT, "place"),
}


def judge_trust(evidence: TrustEvidence) -> AuthorTrust:
    """The trust from all ``evidence``; equal evidence gives equal trust."""
    found = [
        TrustSignal(name, round(strength, 4), detail)
        for name, sign in SIGNS.items()
        for strength, detail in [sign.find(evidence)]
        if round(strength, 4) > 0
    ]
    found.sort(key=lambda signal: (-signal.strength * SIGNS[signal.name].most, signal.name))
    taken: dict[str, float] = {}
    for signal in found:
        sign = SIGNS[signal.name]
        counted = KIN if sign.root in taken else 1.0
        taken[sign.root] = taken.get(sign.root, 0.0) + counted * signal.strength * sign.most
    against = sum(taken.values())
    against -= min(against, SENSE * sense(evidence))
    odds = START + VOUCHED * evidence.verified - against
    score = round(1 / (1 + exp(-odds)), 4)
    return AuthorTrust(
        score, score < LOW, tuple(found), score >= LOW and _is_proven(evidence, found)
    )


def _is_proven(evidence: TrustEvidence, found: Sequence[TrustSignal]) -> bool:
    """Whether answers agree with expected ones; if none are expected, with the author's own earlier
    answers; if nothing can be compared, whether there are many answers without a sign."""
    if evidence.answers < LEAST_TO_PAY:
        return False
    by_chance = 1 / OPTIONS
    expected = binomial_tail(evidence.expected_agreed, evidence.expected_total, by_chance)
    if expected < BY_CHANCE or telling(evidence):
        return expected < BY_CHANCE
    again = binomial_tail(evidence.reask_agreed, evidence.reask_total, by_chance)
    nothing = not (evidence.expected_total or evidence.reask_total or found)
    return again < BY_CHANCE or (nothing and evidence.answers >= WITHOUT_SIGN)
