"""The audit of published tables: which printed numbers do not follow from the others.

``read_table`` reads what was pasted, ``audit`` says what is wrong and which repair makes everything
follow. A table is a set of constraints: the least number of cells that must change is the finding.
"""

from labelhub.core.agreement.audit.arithmetic import (
    Check,
    follows_from_counts,
    grim,
    increase_follows,
    mean_follows,
    mixture_follows,
    possible_d_rates,
    rate_follows,
)
from labelhub.core.agreement.audit.differences import (
    PairedT,
    Pairs,
    mcnemar_pairs,
    paired_t_follows,
)
from labelhub.core.agreement.audit.findings import Audit, Finding, RowName
from labelhub.core.agreement.audit.report import audit
from labelhub.core.agreement.audit.tables import Table, read_table

__all__ = [
    "Audit",
    "Check",
    "Finding",
    "PairedT",
    "Pairs",
    "RowName",
    "Table",
    "audit",
    "follows_from_counts",
    "grim",
    "increase_follows",
    "mcnemar_pairs",
    "mean_follows",
    "mixture_follows",
    "paired_t_follows",
    "possible_d_rates",
    "rate_follows",
    "read_table",
]
