"""The only writer of the ledger.

Every function here runs in one transaction, locks the item's state row first (so two writers on
one item wait for each other), appends rows and brings the item's state into line.
"""

from apps.labels.services.annotators import annotator_for, annotator_for_user
from apps.labels.services.assigning import (
    assign_items,
    keep_for_kind,
    promote_items,
    unassign_items,
    unassign_person,
)
from apps.labels.services.debating import record_debate_results
from apps.labels.services.drafts import (
    DebateResult,
    GoldDraft,
    ImportOutcome,
    LabelDraft,
)
from apps.labels.services.facts import read_history, standing
from apps.labels.services.importing import import_gold, import_labels, import_ledger
from apps.labels.services.learned import record_learned
from apps.labels.services.migrating import (
    RELABEL,
    Carried,
    as_carried,
    carry_over,
)
from apps.labels.services.ranking import rank_items, unrank_items
from apps.labels.services.recording import record_label, withdraw_label
from apps.labels.services.rerouting import reroute_items
from apps.labels.services.states import open_items, replan
from apps.labels.services.withdrawing import withdraw_labels

__all__ = [
    "RELABEL",
    "Carried",
    "DebateResult",
    "GoldDraft",
    "ImportOutcome",
    "LabelDraft",
    "annotator_for",
    "annotator_for_user",
    "as_carried",
    "assign_items",
    "carry_over",
    "import_gold",
    "import_labels",
    "import_ledger",
    "keep_for_kind",
    "open_items",
    "promote_items",
    "rank_items",
    "read_history",
    "record_debate_results",
    "record_label",
    "record_learned",
    "replan",
    "reroute_items",
    "standing",
    "unassign_items",
    "unassign_person",
    "unrank_items",
    "withdraw_label",
    "withdraw_labels",
]
