"""The only writer of the ledger.

Every function here runs in one transaction, locks the item's state row first (so two writers on
one item wait for each other), appends rows and brings the item's state into line.
"""

from apps.labels.services.annotators import annotator_for, annotator_for_user
from apps.labels.services.debating import record_debate_results
from apps.labels.services.drafts import ADVISORY, UNASKED, DebateResult, GoldDraft, LabelDraft
from apps.labels.services.facts import read_history, standing
from apps.labels.services.importing import ImportOutcome, import_gold, import_labels, import_ledger
from apps.labels.services.recording import record_label, withdraw_label
from apps.labels.services.rerouting import reroute_items
from apps.labels.services.states import open_items, replan

__all__ = [
    "ADVISORY",
    "UNASKED",
    "DebateResult",
    "GoldDraft",
    "ImportOutcome",
    "LabelDraft",
    "annotator_for",
    "annotator_for_user",
    "import_gold",
    "import_labels",
    "import_ledger",
    "open_items",
    "read_history",
    "record_debate_results",
    "record_label",
    "replan",
    "reroute_items",
    "standing",
    "withdraw_label",
]
