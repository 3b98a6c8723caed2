"""What the card tells of the rows, counted while they are written."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from apps.exchange.exporters.base import Row
from apps.exchange.exporters.huggingface.columns import current, standing
from apps.labels.models import PEOPLE
from labelhub.core.agreement.intervals import wilson
from labelhub.core.schema import Schema, value_key, value_words

LANGUAGE = re.compile(r"[a-z]{2,3}")
MOST_LANGUAGES = 50


@dataclass(slots=True)
class Share:
    """A mean over items of shares from 0 to 1."""

    n: int = 0
    total: float = 0.0

    def add(self, share: float) -> None:
        """One item's share."""
        self.n += 1
        self.total += share

    def words(self) -> str:
        """Mean, interval and n. Wilson's interval is that of items all right or all wrong, which
        spread most: with shares between it is too wide rather than too narrow."""
        low, high = wilson(round(self.total), self.n)
        return f"{self.total / self.n:.0%} ({low:.0%} to {high:.0%}, n = {self.n:,})"


@dataclass(slots=True)
class Counts:
    """Running counts: bounded, but for the names of annotators."""

    schema: Schema
    rows: int = 0
    decided: int = 0
    values: Counter[str] = field(default_factory=Counter)
    bases: Counter[str] = field(default_factory=Counter)
    annotators: dict[str, set[str]] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)
    abstained: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    people: Share = field(default_factory=Share)
    against_gold: dict[str, Share] = field(default_factory=dict)
    languages: Counter[str] = field(default_factory=Counter)
    offline: bool = False

    def add(self, row: Row) -> None:
        """Count one row."""
        self.rows += 1
        self._add_language(row["meta"])
        gold = row.get("gold")
        if gold is not None:
            self.decided += 1
            if self.schema.labels:
                # A point that the scale has no more counts by its number.
                names = self.schema.names_in(gold)
                self.values.update(names or ([] if gold == [] else [value_words(gold)]))
            self.bases[(row.get("gold_history") or [{"basis": "imported"}])[-1]["basis"]] += 1
        self.rejected.update(
            one["kind"] for one in standing(row.get("labels", [])) if one["rejected"]
        )
        said = current(row.get("labels", []))
        for label in said:
            self._add_label(label)
        if not self.schema.task.written:
            self._compare(said, gold)

    def language_codes(self) -> list[str]:
        """Those that the items name, if every one does."""
        known = sum(self.languages.values()) == self.rows
        return sorted(self.languages) if known and len(self.languages) <= MOST_LANGUAGES else []

    def _add_language(self, meta: Mapping[str, Any]) -> None:
        told = str(meta.get("language") or meta.get("lang") or "").lower()
        if LANGUAGE.fullmatch(told) and len(self.languages) <= MOST_LANGUAGES:
            self.languages[told] += 1

    def _add_label(self, label: Mapping[str, Any]) -> None:
        kind = label["kind"]
        self.annotators.setdefault(kind, set()).add(label["annotator"])
        self.labels[kind] += 1
        self.abstained[kind] += label["abstained"]
        self.offline = self.offline or bool(label.get("offline"))

    def _compare(self, said: list[dict[str, Any]], gold: Any) -> None:
        keys = [(label["kind"], value_key(label["value"])) for label in said
                if label["value"] is not None]  # fmt: skip
        pairs = list(combinations([key for kind, key in keys if kind in PEOPLE], 2))
        if pairs:
            self.people.add(sum(one == other for one, other in pairs) / len(pairs))
        if gold is None:
            return
        truth = value_key(gold)
        for kind in {kind for kind, _ in keys}:
            own = [key == truth for each, key in keys if each == kind]
            self.against_gold.setdefault(kind, Share()).add(sum(own) / len(own))
