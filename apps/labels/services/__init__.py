"""The only writer of the ledger.

Every function here runs in one transaction, locks the item's state row first (so two writers of
one item wait for each other), appends rows and updates the item's state.
"""

from apps.labels.services.annotators import annotator_for, annotator_for_user
from apps.labels.services.imports import import_gold, import_labels, import_ledger
from apps.labels.services.item_ledger import current_labels, read_history
from apps.labels.services.ledger import (
    append_label,
    record_debate_results,
    record_label,
    record_learned,
    withdraw_label,
    withdraw_labels,
)
from apps.labels.services.new_rows import (
    DebateResult,
    GoldContent,
    ImportOutcome,
    LabelContent,
    NewGold,
    NewLabel,
)
from apps.labels.services.queue import (
    assign_items,
    keep_for_kind,
    promote_items,
    rank_items,
    require_labels_here,
    reroute_items,
    unassign_items,
    unassign_person,
    unrank_items,
)
from apps.labels.services.schema_migration import (
    RELABEL,
    Carried,
    carry_over,
    translated_label,
)
from apps.labels.services.states import open_items, replan

__all__ = [
    "RELABEL",
    "Carried",
    "DebateResult",
    "GoldContent",
    "ImportOutcome",
    "LabelContent",
    "NewGold",
    "NewLabel",
    "annotator_for",
    "annotator_for_user",
    "append_label",
    "assign_items",
    "carry_over",
    "current_labels",
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
    "require_labels_here",
    "reroute_items",
    "translated_label",
    "unassign_items",
    "unassign_person",
    "unrank_items",
    "withdraw_label",
    "withdraw_labels",
]
