"""Between which bounds a relevance lies: the interval of a spike-and-slab belief.

With the chance that the feature does not matter its relevance is exactly nothing, else it is
Gaussian (see :mod:`.relevance`). So an interval often begins at nothing, and is nothing but that
where a feature hardly ever matters.
"""

from statistics import NormalDist

import numpy as np

from labelhub.core.echo.relevance import Floats, Relevance

_USUAL = NormalDist()


def relevance_bounds(relevance: Relevance, share: float = 0.95) -> tuple[Floats, Floats]:
    """The central interval of each relevance that holds ``share`` of what is believed.

    Returns:
        Lower and upper bounds, (features,) each.
    """
    beliefs = list(
        zip(
            relevance.matters.tolist(),
            relevance.weight.tolist(),
            np.sqrt(relevance.variance).tolist(),
            strict=True,
        )
    )
    rest = (1 - share) / 2
    return (
        np.array([_quantile(*belief, rest) for belief in beliefs]),
        np.array([_quantile(*belief, 1 - rest) for belief in beliefs]),
    )


def _quantile(matters: float, weight: float, deviation: float, at: float) -> float:
    """Where the share ``at`` of the belief lies below: the spike at nothing has 1 - matters."""
    below = matters * _USUAL.cdf(-weight / deviation)
    if at < below:
        return weight + deviation * _USUAL.inv_cdf(at / matters)
    if at <= below + 1 - matters:
        return 0.0
    return weight + deviation * _USUAL.inv_cdf((at - (1 - matters)) / matters)
