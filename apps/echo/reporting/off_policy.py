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

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db.models import Exists, OuterRef
from numpy.typing import ArrayLike

from apps.echo.models import Decision, Echo, OfferEvent
from labelhub.core.echo.off_policy import evaluate
from labelhub.core.echo.recommending.policies import ECHO

#: Echo had a preferred item if the probabilities of all candidates sum to more than this. Without
#: one they sum to the share of random offers, which is at most a half.
PREFERS = 0.75
#: Shares of preferred items that higher minimum scores would leave out.
LEFT_OUT = (0.25, 0.5)


def evaluate_candidates(echo: Echo) -> dict[str, Any]:
    """Evaluate the policies on the log of a site, in one query; JSON-ready.

    Returns:
        n: number of decisions with candidates. explored: of those without the preferred item.
        candidates: the policies, the logging one first, each with its ``evaluation`` (the estimated
        share of decisions with a clicked offer) and ``least``: its minimum score, if it differs
        from the site's.
    """
    clicks = OfferEvent.objects.filter(decision=OuterRef("pk"), kind=OfferEvent.Kind.CLICKED)
    rows = Decision.objects.filter(echo=echo.pk, policy=ECHO).exclude(propensities={})
    log = list(
        rows.order_by("pk").values(
            "author_id", "propensity", "propensities", "item_ref", "score", clicked=Exists(clicks)
        )
    )
    preferred = np.array([_preferred(row["propensities"]) == row["item_ref"] for row in log], bool)
    offered = np.array([bool(row["item_ref"]) for row in log], bool)
    at_random = offered / np.array([len(row["propensities"]) for row in log])
    done = np.array([row["propensity"] for row in log])
    score = np.array([row["score"] or 0.0 for row in log])
    clicked = np.array([float(row["clicked"]) for row in log])
    authors = [row["author_id"] for row in log]
    found: list[dict[str, Any]] = []

    def add(name: str, would: ArrayLike, earned: ArrayLike, least: float | None = None) -> None:
        evaluation = evaluate(done, would, earned, authors)
        found.append({"name": name, "evaluation": evaluation, "least": least})

    add("logged", done, clicked)
    add("greedy", preferred, clicked)
    add("random_always", at_random, clicked)
    # The preferred item's score tells whether a stricter policy offers it too, or nothing, which
    # gets no click. Either way the policy's decision is known.
    known = score[preferred & offered]
    for share in LEFT_OUT if known.size else ():
        least = float(np.quantile(known, share))
        add(f"least_match_{round(100 * share)}", preferred, clicked * (score >= least), least)
    return {"n": len(log), "explored": int((~preferred).sum()), "candidates": found}


def _preferred(chances: Mapping[str, float]) -> str:
    """The item that Echo prefers; "" for none."""
    return max(chances, key=chances.__getitem__) if sum(chances.values()) > PREFERS else ""
