"""Trying instructions on labels that were kept back: who is on which side, scores, and the test.

Answers of one author are alike, so an author is on one side only, and the test turns whole authors.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from math import ceil, nan, sqrt

import numpy as np

from labelhub.core.echo.examples import Example
from labelhub.core.echo.experiments.clusters import (
    Clusters,
    Figure,
    clusters,
    figure,
    quantile,
    rate_of,
    share_bounds,
    spread_of,
    undefined,
)

#: Share of the authors whose answers are shown to whoever writes instructions.
SHOWN = 0.3
#: Answers of one author at most, so that no single one decides.
MOST_PER_AUTHOR = 5
#: Shares of the kept-back labels on which candidates are tried in turn; each time about half go on.
STAGES = (0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Sides:
    """Labels on both sides, by hash; no author is on both."""

    shown: tuple[Example, ...]
    kept_back: tuple[Example, ...]


@dataclass(slots=True)
class Trial:
    """An instruction while it is tried.

    Args:
        instruction: "" for none.
        source: "present", "empty" or "proposed".
        number: names its calls; 0 for the present one.
        right: by place among the kept-back labels, whether its prediction was right; None where
            the call failed.
    """

    instruction: str
    source: str
    number: int = 0
    right: dict[int, bool | None] = field(default_factory=dict)

    @property
    def heard(self) -> dict[int, bool]:
        """Those that were answered."""
        return {at: right for at, right in self.right.items() if right is not None}

    @property
    def score(self) -> float:
        """Share of those that were answered that are right; -1 without any."""
        heard = self.heard
        return sum(heard.values()) / len(heard) if heard else -1.0


def author_of(label: Example) -> str:
    """What is kept together: an author, else a conversation, else a message."""
    for kind, name in (("a", label.author), ("c", label.conversation), ("t", label.text)):
        if name:
            return f"{kind}:{name}"
    return ""


def sides(labels: Sequence[Example], key: str, most: int) -> Sides:
    """The labels split by a hash of the author keyed with ``key``.

    At most ``most`` are kept back. In neither does the order depend on that in ``labels``, and an
    author never changes sides when others join.
    """
    by_author: dict[str, list[Example]] = defaultdict(list)
    for label in {each.digest: each for each in labels}.values():
        by_author[author_of(label)].append(label)
    shown: list[Example] = []
    kept_back: list[Example] = []
    for author, own in by_author.items():
        side = shown if _place(key, author) < SHOWN else kept_back
        side += sorted(own, key=lambda each: _place(key, each.digest))[:MOST_PER_AUTHOR]
    for side in (shown, kept_back):
        side.sort(key=lambda each: (_place(key, each.digest), each.digest))
    return Sides(tuple(shown), tuple(kept_back[:most]))


def stages_of(labels: int) -> tuple[int, ...]:
    """Of how many labels each stage ends."""
    return tuple(ceil(share * labels) for share in STAGES)


def trial_calls(challengers: int, labels: int) -> int:
    """Calls that it takes to try so many challengers and the present instruction."""
    calls, before, live = 0, 0, challengers
    for end in stages_of(labels):
        calls += (live + 1) * (end - before)
        before, live = end, halved(live)
    return calls


def halved(live: int) -> int:
    """How many of so many go on."""
    return (live + 1) // 2


def best(trials: Sequence[Trial], count: int) -> list[Trial]:
    """The best ``count``; of equal ones the shorter."""
    return sorted(trials, key=lambda t: (-t.score, len(t.instruction), t.instruction))[:count]


def chance(challenger: Trial, present: Trial, labels: Sequence[Example]) -> float:
    """How likely the challenger would lead by as much or more, were neither better; 0 to 1.

    The exact one-sided sign test over authors: each author's lead might as well have had the other
    sign (Fisher's 1935 randomisation of pairs). With one label each it is the exact one-sided test
    of McNemar (1947).
    """
    by_author = _leads(challenger, present, labels)
    leads = [abs(lead) for lead in by_author.values() if lead]
    seen, reach = sum(by_author.values()), sum(leads)
    ways = [0] * (2 * reach + 1)
    ways[reach] = 1
    for lead in leads:
        up = [0] * lead + ways[: len(ways) - lead]
        down = ways[lead:] + [0] * lead
        ways = [one + other for one, other in zip(up, down, strict=True)]
    return float(Fraction(sum(ways[reach + seen :]), 2 ** len(leads)))


def accuracy(trial: Trial, labels: Sequence[Example], doubt: str = "") -> Figure:
    """Share of the labels predicted rightly, its interval by authors."""
    right: dict[str, float] = defaultdict(float)
    tried: dict[str, float] = defaultdict(float)
    for at, correct in trial.heard.items():
        right[author_of(labels[at])] += correct
        tried[author_of(labels[at])] += 1
    rate = rate_of(clusters([right[each] for each in tried], list(tried.values())))
    if rate is None:
        return undefined("It was tried on no label.")
    method = "Wilson, clustered by author"
    return figure(rate.value, share_bounds(rate), n=len(trial.heard), method=method, doubt=doubt)


def difference(
    challenger: Trial, present: Trial, labels: Sequence[Example], confidence: float
) -> Figure:
    """By how much more often the challenger is right, paired by label, its interval by authors."""
    leads = _leads(challenger, present, labels)
    if not leads:
        return undefined("No label was predicted with both.")
    sizes = _both(challenger, present, labels)
    total = sum(sizes.values())
    value = sum(leads.values()) / total
    events = np.array([leads[each] for each in sizes], np.float64)
    bounds, doubt = (nan, nan), "Nothing tells how authors differ."
    if len(sizes) > 1:
        spread, freedom = spread_of(Clusters(events, np.array(list(sizes.values()), np.float64)))
        half = quantile(freedom, confidence) * sqrt(spread) / total
        if half > 0:
            bounds, doubt = (max(-1.0, value - half), min(1.0, value + half)), ""
    method = f"Student's t over authors, {confidence:.2%} for having looked at several"
    return figure(value, bounds, n=total, method=method, doubt=doubt)


def _leads(one: Trial, other: Trial, labels: Sequence[Example]) -> dict[str, int]:
    """By author, on how many more labels the one is right, of those that both were asked."""
    leads: dict[str, int] = defaultdict(int)
    mine, others = one.heard, other.heard
    for at in mine.keys() & others.keys():
        leads[author_of(labels[at])] += mine[at] - others[at]
    return dict(leads)


def _both(one: Trial, other: Trial, labels: Sequence[Example]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for at in one.heard.keys() & other.heard.keys():
        counts[author_of(labels[at])] += 1
    return dict(counts)


def _place(key: str, name: str) -> float:
    """Where ``name`` falls between 0 and before 1."""
    secret = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    plain = name.encode("utf-8", "surrogatepass")
    digest = blake2b(plain, digest_size=8, key=secret, person=b"prompt search").digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53
