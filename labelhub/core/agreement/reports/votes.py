"""What each further label of an item buys: the accuracy of a vote of one, three, five …

All on the same items, those with enough labels for the largest vote, so that the numbers can be
compared. Even votes are left out: a tie shared evenly tells no more than one label fewer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelhub.core.agreement.aggregation.votes import credit_of_votes
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.reports.compared import Compared

LEAST, MOST = 3, 9
#: Fewer items do not tell a vote of three from a single label.
FEWEST_ITEMS = 10
#: With more categories the counting would take long.
MOST_CATEGORIES = 60


@dataclass(frozen=True, slots=True)
class VotesAccuracy:
    """How often a majority of ``votes`` labels is right."""

    votes: int
    accuracy: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"votes": self.votes, "accuracy": self.accuracy}


def by_votes(compared: Compared) -> Sequence[VotesAccuracy]:
    """From one label to as many as half of the items have; nothing where that is less than three.

    Every choice of an item's labels is as likely, and a tie shares its weight.
    """
    totals = compared.total[compared.of_row]
    enough = max(FEWEST_ITEMS, (len(totals) + 1) // 2)
    if len(totals) < enough or compared.counts.shape[1] > MOST_CATEGORIES:
        return []
    most = min(int(np.sort(totals)[-enough]), MOST)
    if most < LEAST:
        return []
    these = totals >= most
    return [
        VotesAccuracy(votes, compared.mean(np.where(these, _credit(compared, votes), np.nan)))
        for votes in range(1, most + 1, 2)
    ]


def _credit(compared: Compared, votes: int) -> Any:
    return credit_of_votes(compared.counts, compared.truth, votes)[compared.of_row]
