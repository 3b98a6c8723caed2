"""Rows that supersede what their annotator says by now, in files that have no uids.

A published set of labels says that a person labelled an item again, and not which label it revises.
Such a row gets a uid made of what it says, so that the same file brings nothing twice.
"""

import json
from collections import Counter
from dataclasses import replace
from uuid import UUID, uuid5

from apps.exchange.labelrows import LabelRow

NAMESPACE = UUID("5b0c3a57-6d0e-4a55-9a39-3a6a2c1d8b11")


class Repeated:
    """Counts, for the length of one import, rows that say the same in every respect."""

    def __init__(self) -> None:
        self._often: Counter[UUID] = Counter()

    def named(self, item: str, row: LabelRow) -> LabelRow:
        """The row with a uid, if it supersedes its annotator's own and has none."""
        if not row.supersedes_own or row.uid:
            return row
        parts = [item, row.who.kind, row.who.name, row.value, row.abstained, row.withdrawn]
        parts += ["rejected"] if row.rejected else []
        given = str(row.created_at) if row.created_at else None
        same = uuid5(NAMESPACE, json.dumps([*parts, given, row.replicate]))
        self._often[same] += 1
        return replace(row, uid=uuid5(same, str(self._often[same])))
