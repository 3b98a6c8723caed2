"""Off-policy evaluation: estimated clicks of other policies on messages with fitting items.

A decision is stored with the probability of each candidate, but without the scores of items that
were not offered. So these policies can be evaluated:

- Echo as it was, and Echo without random offers: the item that Echo prefers is more probable than
  the others;
- always a random candidate;
- Echo with a higher minimum score: the score of the preferred item is known if it was offered, and
  no offer certainly gets no click.

A policy without offers gets no clicks and needs no estimate. A lower minimum score, other weights
or another catalogue need scores that are not stored. All policies keep the messages and pauses of
the log; other pauses, which a policy with more offers would cause, cannot be evaluated.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef

from apps.echo.models import Decision, Echo, OfferEvent
from labelhub.core.echo.off_policy import PolicyEvaluation, evaluate
from labelhub.core.echo.recommending.policies import ECHO

#: Echo had a preferred item if the probabilities of all candidates sum to more than this. Without
#: one they sum to the share of random offers, which is at most a half.
PREFERS = 0.75
#: Shares of preferred items that higher minimum scores would leave out.
LEFT_OUT = (0.25, 0.5)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy with its estimated share of decisions with a clicked offer.

    ``least``: its minimum score, if it differs from the site's.
    """

    name: str
    evaluation: PolicyEvaluation
    least: float | None = None


@dataclass(frozen=True, slots=True)
class OffPolicy:
    """The policies, the logging policy first, evaluated on ``n`` decisions with candidates."""

    n: int
    explored: int
    candidates: Sequence[Candidate]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return asdict(self)


def evaluate_candidates(echo: Echo) -> OffPolicy:
    """Evaluate the policies on the log of a site, in one query."""
    clicks = OfferEvent.objects.filter(decision=OuterRef("pk"), kind=OfferEvent.Kind.CLICKED)
    rows = (
        Decision.objects.filter(echo=echo.pk, policy=ECHO).exclude(propensities={}).order_by("pk")
    )
    log = list(
        rows.annotate(clicked=Exists(clicks)).values_list(
            "author_id", "propensity", "propensities", "item_ref", "score", "clicked"
        )
    )
    authors = [author for author, *_ in log]
    done = np.array([propensity for _, propensity, *_ in log])
    offered = np.array([bool(item) for *_, item, _, _ in log], bool)
    candidates = np.array([len(chances) for _, _, chances, *_ in log])
    likeliest = [
        max(chances, key=chances.__getitem__) if sum(chances.values()) > PREFERS else ""
        for _, _, chances, *_ in log
    ]
    preferred = np.array([item == log[i][3] for i, item in enumerate(likeliest)], bool)
    score = np.array([score or 0.0 for *_, score, _ in log])
    clicked = np.array([float(click) for *_, click in log])
    found = [
        Candidate("logged", evaluate(done, done, clicked, authors)),
        Candidate("greedy", evaluate(done, preferred, clicked, authors)),
        Candidate(
            "random_always",
            evaluate(done, offered / np.maximum(candidates, 1), clicked, authors),
        ),
    ]
    # The preferred item's score tells whether a stricter policy offers it too, or nothing, which
    # gets no click. Either way the policy's decision is known.
    known = score[preferred & offered]
    for share in LEFT_OUT if known.size else ():
        least = float(np.quantile(known, share))
        earned = clicked * (score >= least)
        evaluation = evaluate(done, preferred, earned, authors)
        found.append(Candidate(f"least_match_{round(100 * share)}", evaluation, least))
    return OffPolicy(len(log), int((~preferred).sum()), found)
