"""Count the answers of several annotators: the winner and its certainty.

An annotator without a readable answer abstains. It still counts as one of those asked, with an
answer of its own: one more abstention never makes a vote surer.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labelhub.core.schema import Schema, Value, value_key


@dataclass(frozen=True, slots=True)
class Tally:
    """The result of a vote.

    Attributes:
        value: the most frequent answer; None for a tie or if all abstain.
        majority: whether more than half of all annotators gave it.
        d_rate: (votes of the first - votes of the second) / all annotators, in [0, 1] (paper 002,
            section 4.2); abstentions count as one answer, which may come second.
        entropy: of the answers, with abstentions as one answer, divided by the greatest possible
            entropy for as many voters and the offered answers; in [0, 1].
        votes: answers with their counts, the most frequent first; None is an abstention.
    """

    value: Value | None
    majority: bool
    d_rate: float
    entropy: float
    votes: tuple[tuple[Value | None, int], ...]

    @property
    def unanimous(self) -> bool:
        """Whether all gave the same answer."""
        return len(self.votes) == 1 and self.votes[0][0] is not None


def tally(ballots: Sequence[Value | None], schema: Schema) -> Tally:
    """Count ``ballots``, at least one; None is an abstention.

    For sets of labels each label has a vote of its own, and the whole is as sure as the vote on the
    most contested label.
    """
    votes = _count_votes(ballots)
    if schema.task.several:
        return _tally_labels(ballots, schema, votes)
    counts = {value_key(value): n for value, n in votes if value is not None}
    abstained = sum(ballot is None for ballot in ballots)
    # Items with their own options may have as many answers as there are voters.
    d_rate, entropy = _certainty(counts, abstained, len(schema.labels) or len(ballots))
    ranked = [(value, n) for value, n in votes if value is not None]
    tied = not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1])
    value, most = (None, 0) if tied else ranked[0]
    return Tally(value, most * 2 > len(ballots), d_rate, entropy, votes)


def _tally_labels(
    ballots: Sequence[Value | None], schema: Schema, votes: tuple[tuple[Value | None, int], ...]
) -> Tally:
    given = [frozenset(ballot) for ballot in ballots if isinstance(ballot, list)]
    abstained = len(ballots) - len(given)
    named = [name for name in schema.names if any(name in ballot for ballot in given)]
    present: list[str] = []
    tied, majority, d_rate, entropy = not given, len(given) * 2 > len(ballots), 1.0, 0.0
    for name in named:
        yes = sum(name in ballot for ballot in given)
        no = len(given) - yes
        sure, spread = _certainty({"yes": yes, "no": no}, abstained, 2)
        d_rate, entropy = min(d_rate, sure), max(entropy, spread)
        tied = tied or yes == no
        majority = majority and max(yes, no) * 2 > len(ballots)
        if yes > no:
            present.append(name)
    if not named:
        d_rate, entropy = _certainty({"none": len(given)}, abstained, 2)
    return Tally(None if tied else present, majority and not tied, d_rate, entropy, votes)


def _count_votes(ballots: Sequence[Value | None]) -> tuple[tuple[Value | None, int], ...]:
    """Answers with their counts, the most frequent first, ties in the order of the ballots."""
    keys = [None if ballot is None else value_key(ballot) for ballot in ballots]
    answers: dict[str | None, Value | None] = dict(zip(keys, ballots, strict=True))
    return tuple((answers[key], n) for key, n in Counter(keys).most_common())


def _certainty(counts: Mapping[str, int], abstained: int, choices: int) -> tuple[float, float]:
    """D_rate and normalised entropy of the answers with these counts."""
    asked = sum(counts.values()) + abstained
    ordered = sorted(counts.values(), reverse=True)
    first = ordered[0] if ordered else 0
    second = max([*ordered[1:2], abstained])
    shares = [n / asked for n in (*ordered, abstained) if n]
    most = math.log(max(2, min(asked, choices)))
    entropy = -sum(share * math.log(share) for share in shares) / most
    return max(0.0, round((first - second) / asked, 4)), round(max(0.0, min(1.0, entropy)), 4)
