"""Counting what several annotators say: who wins, and how sure that is.

An annotator whose answer could not be read abstains. It still counts among those who were asked,
as an answer of its own: one more abstention never makes a vote surer.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labelhub.core.schema import Schema, Value, value_key


@dataclass(frozen=True, slots=True)
class Tally:
    """How a vote ended.

    Attributes:
        value: what the most voters say; None for a tie or where nobody says anything.
        majority: whether more than half of all who were asked say it.
        d_rate: (votes of the first - votes of the second) / all who were asked, in [0, 1] (paper
            002, section 4.2); abstentions count as one more answer that may come second.
        entropy: of the answers, abstaining being one, over the greatest that as many voters can
            reach with the answers that are offered; in [0, 1].
        votes: answers with their counts, the most frequent first; None stands for abstaining.
    """

    value: Value | None
    majority: bool
    d_rate: float
    entropy: float
    votes: tuple[tuple[Value | None, int], ...]

    @property
    def unanimous(self) -> bool:
        """Whether everybody says the same thing."""
        return len(self.votes) == 1 and self.votes[0][0] is not None


def tally(ballots: Sequence[Value | None], schema: Schema) -> Tally:
    """Count ``ballots``, at least one; None is an abstention.

    Of several labels (task ``multi``) each is voted on by itself, and the vote is as sure as that
    on the most contested label.
    """
    votes = _votes(ballots)
    if schema.task.several:
        return _by_label(ballots, schema, votes)
    counts = {value_key(value): n for value, n in votes if value is not None}
    abstained = sum(ballot is None for ballot in ballots)
    d_rate, entropy = _certainty(counts, abstained, _choices(schema, len(ballots)))
    ranked = [(value, n) for value, n in votes if value is not None]
    tied = not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1])
    value, most = (None, 0) if tied else ranked[0]
    return Tally(value, most * 2 > len(ballots), d_rate, entropy, votes)


def _by_label(
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


def _votes(ballots: Sequence[Value | None]) -> tuple[tuple[Value | None, int], ...]:
    """Answers with their counts; equally frequent ones in the order in which they were given."""
    keys = [None if ballot is None else value_key(ballot) for ballot in ballots]
    answers: dict[str | None, Value | None] = dict(zip(keys, ballots, strict=True))
    return tuple((answers[key], n) for key, n in Counter(keys).most_common())


def _choices(schema: Schema, asked: int) -> int:
    """How many answers are offered; where items bring their own, as many as there are voters."""
    return len(schema.labels) or asked


def _certainty(counts: Mapping[str, int], abstained: int, choices: int) -> tuple[float, float]:
    """D_rate and normalised entropy of these answers."""
    asked = sum(counts.values()) + abstained
    ordered = sorted(counts.values(), reverse=True)
    first = ordered[0] if ordered else 0
    second = max([*ordered[1:2], abstained])
    shares = [n / asked for n in (*ordered, abstained) if n]
    most = math.log(max(2, min(asked, choices)))
    entropy = -sum(share * math.log(share) for share in shares) / most
    return max(0.0, round((first - second) / asked, 4)), round(max(0.0, min(1.0, entropy)), 4)
