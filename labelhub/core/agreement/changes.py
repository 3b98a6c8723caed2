"""What an exchange of arguments does to opinions: mended, spoilt, or left as they were.

Agreement that rises with the rounds shows conformity, not truth (paper 001): only set against gold
does a change of mind say anything.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.resampling import Ints, Resample, clustered_share

#: Before and after, as people read it and as addresses name it.
KINDS = ("right-right", "right-wrong", "wrong-right", "wrong-wrong")


@dataclass(frozen=True, slots=True)
class Changes:
    """Debates by whether the opinion before and the one after are right.

    ``mended``: of what was wrong before, the share that is right after; ``spoilt``: the reverse.
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


def changes(
    sample: Resample, rows: Ints, before: NDArray[np.bool_], after: NDArray[np.bool_]
) -> Changes:
    """Count debates about the items at ``rows`` by ``before`` and ``after`` being right."""
    masks = (before & after, before & ~after, ~before & after, ~before & ~after)
    stayed, lost, won, failed = (
        np.bincount(rows[mask], minlength=sample.items).astype(np.int64) for mask in masks
    )
    return Changes(
        right_right=int(stayed.sum()),
        right_wrong=int(lost.sum()),
        wrong_right=int(won.sum()),
        wrong_wrong=int(failed.sum()),
        mended=clustered_share(sample, won, won + failed, reason="nothing was wrong before"),
        spoilt=clustered_share(sample, lost, lost + stayed, reason="nothing was right before"),
    )
