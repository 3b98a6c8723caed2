"""Off-policy evaluation: estimated clicks of other policies on messages with fitting items.

A decision is stored with the probability of each candidate, but without the scores of items that
were not offered. So these policies can be evaluated:

- Echo as it was, and Echo without random offers: the item that Echo prefers is more probable than
  the others;
- a random candidate, always or if Echo would make an offer;
- Echo with a higher minimum score: the score of the preferred item is known if it was offered, and
  no offer certainly gets no click.

A policy without offers gets no clicks and needs no estimate. A lower minimum score, other weights
or another catalogue need scores that are not stored. All policies keep the messages and pauses of
the log; other pauses, which a policy with more offers would cause, cannot be evaluated.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from django.utils.translation import gettext

from apps.common.figures import number_words
from apps.echo.models import Echo, OfferEvent
from labelhub.core.echo.off_policy import LoggedDecision as Logged
from labelhub.core.echo.off_policy import PolicyEvaluation, evaluate
from labelhub.core.echo.recommending.policies import ECHO

#: Echo had a preferred item if the probabilities of all candidates sum to more than this. Without
#: one they sum to the share of random offers, which is at most a half.
PREFERS = 0.75
#: Shares of preferred items that higher minimum scores would leave out.
LEFT_OUT = (0.25, 0.5)
AT_ONCE = 2_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy with its estimated share of decisions with a clicked offer."""

    name: str
    words: str
    evaluation: PolicyEvaluation


@dataclass(frozen=True, slots=True)
class OffPolicy:
    """The policies, the logging policy first, evaluated on ``n`` decisions with candidates."""

    n: int
    explored: int
    candidates: Sequence[Candidate]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


class _Choice(NamedTuple):
    """A decision of Echo with candidates.

    done: probability of the decision. preferred: whether it is what Echo prefers. prefers: whether
    Echo prefers to make an offer. offered: whether there was an offer. candidates: their number.
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
    """Evaluate the policies on the log of a site, in two queries."""
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
            gettext("Echo as it was"),
            evaluate([_logged(c, c.done, offers=float(c.offered), mean=mean) for c in choices]),
        ),
        Candidate(
            "greedy",
            gettext("Echo without random offers"),
            evaluate(
                [
                    _logged(c, float(c.preferred), offers=float(c.prefers), mean=mean)
                    for c in choices
                ]
            ),
        ),
        Candidate(
            "random_where_echo",
            gettext("Random fitting item, if Echo would offer one"),
            evaluate([_drawn(c, mean, always=False) for c in choices]),
        ),
        Candidate(
            "random_always",
            gettext("Random fitting item, always"),
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
    """The item that Echo would offer without exploring; "" if it would offer none."""
    if sum(chances.values()) < PREFERS:
        return ""
    return max(chances, key=lambda ref: chances[ref])


def _drawn(choice: _Choice, mean: float, *, always: bool) -> Logged:
    offers = float(choice.prefers or always)
    candidate = offers / choice.candidates if choice.offered else 1 - offers
    return _logged(choice, candidate, offers=offers, mean=mean)


def _logged(choice: _Choice, candidate: float, *, offers: float, mean: float) -> Logged:
    """A logged decision; its reward model is the mean click rate of all offers."""
    return Logged(
        propensity=choice.done,
        candidate=candidate,
        reward=choice.reward,
        author=choice.author,
        predicted=mean if choice.offered else 0.0,
        expected=mean * offers,
    )


def _stricter(choices: Sequence[_Choice]) -> Iterator[Candidate]:
    """Echo with a higher minimum score, at quantiles of the known scores.

    If the preferred item was offered, its score tells whether the policy offers it too, or nothing,
    which gets no click. Either way the policy's decision is known.
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
        words = gettext("Echo with a minimum score of %(score)s") % {"score": number_words(least)}
        yield Candidate(f"least_match_{round(100 * share)}", words, evaluate(rows))
