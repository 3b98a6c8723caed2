"""Opinions in a debate: changes for better or worse, and the agreement of voters.

Agreement that rises with the rounds shows conformity, not truth (paper 001): a change of mind says
something only against gold.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.coefficients.chance import fleiss_kappa
from labelhub.core.agreement.coefficients.sums import Layout, agreement_parts
from labelhub.core.agreement.estimation import withhold_interval
from labelhub.core.agreement.figures import (
    CLUSTERED,
    Figure,
    Resample,
    clustered_share,
    figure,
    percentile_ends,
    undefined,
)
from labelhub.core.agreement.intervals import BOOTSTRAP
from labelhub.core.agreement.ratings import Ints
from labelhub.core.texts import gettext_noop

NEVER_WRONG = gettext_noop("nothing was wrong before")
NEVER_RIGHT = gettext_noop("nothing was right before")


@dataclass(frozen=True, slots=True)
class OpinionChanges:
    """Debates by whether the opinion before and the one after are right.

    ``mended``: the share of answers wrong before that are right after; ``spoilt``: the reverse.
    """

    right_right: int
    right_wrong: int
    wrong_right: int
    wrong_wrong: int
    mended: Figure
    spoilt: Figure

    @property
    def n(self) -> int:
        """Debates counted."""
        return self.right_right + self.right_wrong + self.wrong_right + self.wrong_wrong

    @property
    def gain(self) -> int:
        """Debates that are right only after, less those that are right only before."""
        return self.wrong_right - self.right_wrong

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {name: getattr(self, name) for name in self.__slots__}


def count_changes(
    sample: Resample, rows: Ints, before: NDArray[np.bool_], after: NDArray[np.bool_]
) -> OpinionChanges:
    """Count debates about the items at ``rows`` by ``before`` and ``after`` being right."""
    masks = (before & after, before & ~after, ~before & after, ~before & ~after)
    stayed, lost, won, failed = (
        np.bincount(rows[mask], minlength=sample.items).astype(np.int64) for mask in masks
    )
    return OpinionChanges(
        right_right=int(stayed.sum()),
        right_wrong=int(lost.sum()),
        wrong_right=int(won.sum()),
        wrong_wrong=int(failed.sum()),
        mended=withhold_interval(clustered_share(sample, won, won + failed, reason=NEVER_WRONG)),
        spoilt=withhold_interval(clustered_share(sample, lost, lost + stayed, reason=NEVER_RIGHT)),
    )


TOO_FEW = gettext_noop("no debate has two answers to compare")
NO_VARIATION = gettext_noop("all answers are the same, so chance agreement cannot be removed")
OPTIONS_DIFFER = gettext_noop(
    "the options differ from item to item, so there is no chance agreement to remove"
)


@dataclass(frozen=True, slots=True)
class VoterAgreement:
    """Of the voters of some debates; ``debates`` is how many have two answers."""

    debates: int
    percent: Figure
    fleiss: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"debates": self.debates, "percent": self.percent, "fleiss": self.fleiss}


def voter_agreement(
    sample: Resample, rows: Ints, votes: Ints, *, same_options: bool = True
) -> VoterAgreement:
    """Of ``votes``, shape (debates, categories), about the items at ``rows``.

    ``same_options``: a category means the same in every debate; else there is no kappa.
    """
    voters = votes.sum(axis=1)
    kept = voters >= 2
    if not kept.any():
        return VoterAgreement(0, undefined(TOO_FEW), undefined(TOO_FEW))
    q, debates = votes.shape[1], int(kept.sum())
    columns = agreement_parts(votes)
    by_item = np.zeros((sample.items, columns.shape[1]))
    np.add.at(by_item, rows, columns)
    share = withhold_interval(
        clustered_share(
            sample, by_item[:, Layout.agree], by_item[:, Layout.pairable], reason=TOO_FEW
        )
    )
    if not same_options:
        return VoterAgreement(debates, share, undefined(OPTIONS_DIFFER))
    value, n = fleiss_kappa(q), len(np.unique(rows[kept]))
    number = float(value(by_item.sum(axis=0, keepdims=True))[0])
    if np.isnan(number):
        return VoterAgreement(debates, share, undefined(NO_VARIATION))
    low, high = percentile_ends(value(sample.sums(by_item)))
    method = CLUSTERED if n < debates else BOOTSTRAP
    kappa = figure(number, low=low, high=high, n=n, method=method)
    return VoterAgreement(debates, share, withhold_interval(kappa))
