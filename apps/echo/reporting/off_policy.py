"""What other policies would have earned at the moments in which Echo had something to offer.

What is stored with a decision is the chance of each candidate; the scores of those that were not
offered are not. So only policies are told of that can be computed from that:

- Echo as it was, and Echo without its exploring share: the item that it prefers is the one that is
  likelier than the others, if any is;
- a candidate at random, always or where Echo would offer;
- Echo with a higher least match: the score of what it prefers is known where that was offered, and
  what the candidate would not offer earns nothing for certain.

"Never" needs no estimate: it earns nothing. A lower least match, other weights or another catalogue
need scores that nobody has kept. All keep to the moments and the pauses of the log: a policy that
offers more often would have had other pauses, and that is not told here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from apps.echo.models import Echo, OfferEvent
from labelhub.core.echo.off_policy import LoggedDecision as Logged
from labelhub.core.echo.off_policy import PolicyEvaluation, evaluate
from labelhub.core.echo.recommending.policies import ECHO

#: Above this the chances of all candidates together say that Echo had a preference: without one
#: they amount to the exploring share, which is at most a half.
PREFERS = 0.75
#: Share of the preferred items that a higher least match would leave out.
LEFT_OUT = (0.25, 0.5)
AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy with what it would have earned: decisions with a clicked offer, per decision."""

    name: str
    words: str
    evaluation: PolicyEvaluation


@dataclass(frozen=True, slots=True)
class OffPolicy:
    """The candidates, the logging policy first, told of ``n`` decisions that had a choice."""

    n: int
    explored: int
    candidates: Sequence[Candidate]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


class _Choice(NamedTuple):
    """A decision of Echo's that had candidates.

    done: chance of what was done. preferred: whether that is what Echo prefers. prefers: whether it
    preferred to offer something. offered: whether something was offered. candidates: how many.
    """

    author: str
    done: float
    preferred: bool
    prefers: bool
    offered: bool
    candidates: int
    score: float
    reward: float


def evaluate_candidates(echo: Echo) -> OffPolicy:
    """Evaluate the candidates by the log of a site, in two queries."""
    clicked = set(
        OfferEvent.objects.filter(kind=OfferEvent.Kind.CLICKED, decision__echo=echo)
        .order_by()
        .values_list("decision_id", flat=True)
    )
    choices = list(_choices(echo, clicked))
    taken = [choice.reward for choice in choices if choice.offered]
    mean = float(np.mean(taken)) if taken else 0.0
    found = [
        Candidate(
            "logged",
            "Echo as it was",
            evaluate([_logged(c, c.done, offers=float(c.offered), mean=mean) for c in choices]),
        ),
        Candidate(
            "greedy",
            "Echo without offers at random",
            evaluate(
                [
                    _logged(c, float(c.preferred), offers=float(c.prefers), mean=mean)
                    for c in choices
                ]
            ),
        ),
        Candidate(
            "random_where_echo",
            "A candidate at random, where Echo would offer",
            evaluate([_drawn(c, mean, always=False) for c in choices]),
        ),
        Candidate(
            "random_always",
            "A candidate at random, always",
            evaluate([_drawn(c, mean, always=True) for c in choices]),
        ),
        *_stricter(choices),
    ]
    return OffPolicy(len(choices), sum(not c.preferred for c in choices), found)


def _choices(echo: Echo, clicked: set[int]) -> Iterator[_Choice]:
    rows = echo.decisions.filter(policy=ECHO).exclude(propensities={}).order_by("pk")
    values = rows.values_list("pk", "author_id", "propensity", "propensities", "item_ref", "score")
    for pk, author, done, chances, item, score in values.iterator(chunk_size=AT_ONCE):
        likeliest = _preferred(chances)
        yield _Choice(
            author=str(author),
            done=done,
            preferred=item == likeliest,
            prefers=bool(likeliest),
            offered=bool(item),
            candidates=len(chances),
            score=score or 0.0,
            reward=float(pk in clicked),
        )


def _preferred(chances: Mapping[str, float]) -> str:
    """The item that Echo would offer if it did not explore; "" where it would offer none."""
    if sum(chances.values()) < PREFERS:
        return ""
    return max(chances, key=lambda ref: chances[ref])


def _drawn(choice: _Choice, mean: float, *, always: bool) -> Logged:
    offers = float(choice.prefers or always)
    candidate = offers / choice.candidates if choice.offered else 1 - offers
    return _logged(choice, candidate, offers=offers, mean=mean)


def _logged(choice: _Choice, candidate: float, *, offers: float, mean: float) -> Logged:
    """With a model of the reward that knows one thing: how many offers were clicked at all."""
    return Logged(
        propensity=choice.done,
        candidate=candidate,
        reward=choice.reward,
        author=choice.author,
        predicted=mean if choice.offered else 0.0,
        expected=mean * offers,
    )


def _stricter(choices: Sequence[_Choice]) -> Iterator[Candidate]:
    """Echo with a higher least match: what it prefers has to reach a quantile of the scores seen.

    Where the preferred item was offered, its score says what the candidate does: offer it too, or
    nothing, which earns nothing. Either way its decision is known there, with that chance.
    """
    scores = [c.score for c in choices if c.prefers and c.preferred]
    if not scores:
        return
    for share in LEFT_OUT:
        least = float(np.quantile(scores, share))
        rows = [
            Logged(
                propensity=choice.done,
                candidate=float(choice.preferred),
                reward=choice.reward if choice.score >= least else 0.0,
                author=choice.author,
            )
            for choice in choices
        ]
        words = f"Echo where an item must fit by {least:.2f}"
        yield Candidate(f"least_match_{round(100 * share)}", words, evaluate(rows))
