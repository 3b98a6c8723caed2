"""Evaluation and agreement as records; see ``docs/agreement.md`` for what the figures mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labelhub.client.records import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Items by predicted and gold."""

    predicted_yes_gold_yes: int
    predicted_yes_gold_no: int
    predicted_no_gold_yes: int
    predicted_no_gold_no: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScore:
    """One label's counts and metrics."""

    label: str
    counts: Counts
    precision: Figure
    recall: Figure
    f1: Figure
    accuracy: Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Predicted against gold; ``overall`` by the name of the metric."""

    project: str
    task: str
    run: int | None
    replicate: int | None
    annotator: str | None
    kind: str | None
    offline: bool | None
    note: str
    gold: int
    items: int
    unanswered: int
    n: int
    overall: Mapping[str, Figure]
    labels: tuple[LabelScore, ...]
    matrix: Mapping[str, Mapping[str, int]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement within and between kinds of annotators, against gold and against authors.

    ``within`` and ``cost`` are by kind, then by the name of the figure.
    """

    project: str
    task: str
    slice: Mapping[str, Any]
    unit: str
    categories: tuple[str, ...] | None
    offline: Mapping[str, tuple[str, ...]]
    items: int
    sources: Mapping[str, Mapping[str, Any]]
    within: Mapping[str, Mapping[str, Figure]]
    per_label: Mapping[str, Any]
    between: tuple[Mapping[str, Any], ...]
    against_gold: Mapping[str, Mapping[str, Any]]
    against_author: Mapping[str, Mapping[str, Any]]
    alt_test: Mapping[str, Mapping[str, Any]]
    comparisons: Mapping[str, Mapping[str, Any]]
    intra: Mapping[str, Mapping[str, Any]]
    left_out: Mapping[str, int]
    reasons: Mapping[str, str]
    cost: Mapping[str, Mapping[str, Figure]]
