"""How far each bound reaches among all debates, measured once: when the sample is judged.

Whoever looks at a verdict later reads these numbers, not all debates anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from apps.agreement.automation.calibration import read_pool
from apps.agreement.automation.counts import Counts, count_pool
from apps.agreement.automation.decisions import first_decisions
from apps.agreement.automation.shares import LabelShare, label_shares
from apps.agreement.models import Guarantee
from apps.projects.selectors import current_schema

#: Where a verdict keeps it.
REACH = "reach"


@dataclass(frozen=True, slots=True)
class Reach:
    """The sizes of the pool, how many items each bound accepts, strict to loose, and how often
    labels occur; all as of the verdict."""

    pool: Counts
    accepted: Sequence[int]
    shares: Sequence[LabelShare]


def measured(guarantee: Guarantee, known: Mapping[int, object]) -> dict[str, Any]:
    """The reach of a sample's bounds now, as a verdict keeps it.

    Args:
        guarantee: whose bounds.
        known: the items of its sample that count.
    """
    pool = read_pool(guarantee.project)
    decided = first_decisions(guarantee).truths
    truths = {item: decided[item] for item in known if item in decided}
    shares = label_shares(pool, truths, current_schema(guarantee.project).parsed)
    return {
        "pool": asdict(count_pool(guarantee.project)),
        "accepted": [pool.accepted(bound) for bound in guarantee.bounds],
        "shares": [asdict(share) for share in shares],
    }


def reach_of(guarantee: Guarantee, known: Mapping[int, object]) -> Reach:
    """What was measured with the verdict; now, and kept, where the verdict was given without."""
    verdict = dict(guarantee.verdict or {})
    if REACH not in verdict:
        verdict[REACH] = measured(guarantee, known)
        Guarantee.objects.filter(pk=guarantee.pk, verdict__isnull=False).update(verdict=verdict)
        guarantee.verdict = verdict
    found = verdict[REACH]
    shares = [LabelShare(**each) for each in found["shares"]]
    return Reach(Counts(**found["pool"]), found["accepted"], shares)
