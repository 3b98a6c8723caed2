"""The truths of a report, its methods, and the part of the labels it is about."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.common.charts import KIND_WORDS, TEXT_MATCHER
from labelhub.core.schema import TASKS

Report = Mapping[str, Any]
KIND_NAMES = {
    "llm": "the LLM",
    "crowd": "the crowd",
    "expert": "the experts",
    "author": "the author",
    "model": "the model",
}


@dataclass(frozen=True, slots=True)
class Truth:
    """``key``: its key in the report; ``words``: as after "right about".

    ``measure``: the figure of how often, or for free texts how far, a kind is right.
    """

    key: str
    name: str
    words: str
    found: Mapping[str, Any]
    measure: str = "majority_accuracy"

    def figure(self, kind: str) -> Mapping[str, Any]:
        """How often a kind's answer to an item is right; for free texts the share of words in
        common with the truth."""
        figures: Mapping[str, Any] = self.found[kind]
        shown: Mapping[str, Any] = figures[self.measure]
        return shown

    @property
    def by(self) -> str:
        """Its name in addresses and among the comparisons."""
        return self.key.removeprefix("against_")

    @property
    def independent(self) -> Sequence[str]:
        """The kinds that did not decide any of the truth themselves."""
        return [kind for kind in self.kinds if not self.found[kind]["own_decisions"]]

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds that can be measured by it."""
        return [kind for kind in self.found if self.figure(kind)["value"] is not None]


def truths_of(report: Report) -> list[Truth]:
    """The truths by which something can be measured, the author first."""
    measure = TASKS[report["task"]].truth_measure
    named = [
        ("against_author", "the author", "what the author said"),
        ("against_gold", "gold", "what was decided"),
    ]
    found = [Truth(key, name, words, report[key], measure) for key, name, words in named]
    return [truth for truth in found if truth.kinds]


def short_name(report: Report, kind: str) -> str:
    """The name of a kind in a chart."""
    if kind in ("llm", "model") and report["offline"].get(kind):
        return TEXT_MATCHER
    return KIND_WORDS.get(kind, kind)


def name_of(report: Report, kind: str) -> str:
    """The name of a kind in a sentence; the text matcher is never called an LLM."""
    if kind in ("llm", "model") and report["offline"].get(kind):
        return f"the {TEXT_MATCHER[:1].lower()}{TEXT_MATCHER[1:]}"
    return KIND_NAMES.get(kind, kind)


def interval_methods(report: Report) -> list[str]:
    """The methods of all figures that have an interval, those of most figures first."""
    found = Counter(
        figure["method"]
        for figure in _figures(report)
        if figure.get("low") is not None and figure.get("method")
    )
    return [method for method, _ in found.most_common()]


def doubts(report: Report) -> list[str]:
    """Why some intervals may be too narrow, without the codes before the words."""
    found = Counter(
        without_code(part)
        for figure in _figures(report)
        if figure.get("doubt")
        for part in str(figure["doubt"]).split("; ")
    )
    return [words for words, _ in found.most_common()]


def without_code(doubt: str) -> str:
    """A doubt without the code before its words."""
    code, colon, words = doubt.partition(": ")
    return words if colon and " " not in code else doubt


def _figures(part: Any) -> Iterator[Mapping[str, Any]]:
    """Every figure with a number in a report, however deep."""
    if isinstance(part, Mapping):
        if part.get("value") is not None:
            yield part
            return
        for value in part.values():
            yield from _figures(value)
    elif isinstance(part, list):
        for value in part:
            yield from _figures(value)


_KINDS = {
    "llm": "LLMs",
    "crowd": "the crowd",
    "expert": "experts",
    "author": "authors",
    "model": "models",
}


def part_words(report: Report, who: str = "") -> str:
    """``Only items tagged “urgent”, labels by the crowd``; empty if it is about all labels.

    ``who``: the title of the only annotator, where the slice has one.
    """
    asked = report["slice"]
    parts = []
    if tag := asked.get("tag"):
        parts.append(f"items tagged “{tag}”" if "=" not in tag else f"items with “{tag}”")
    if kind := asked.get("kind"):
        parts.append(f"labels by {_KINDS.get(kind, kind)}")
    if annotator := asked.get("annotator"):
        parts.append(f"labels by {who or f'annotator {annotator}'}")
    if run := asked.get("run"):
        replicate = f", replicate {asked['replicate']}" if "replicate" in asked else ""
        parts.append(f"machines' labels of run {run}{replicate}")
    if label := asked.get("label"):
        parts.append(f"whether it is “{label}” or not")
    since, until = asked.get("since"), asked.get("until")
    if since and until:
        parts.append(f"labels of {since}" if since == until else f"labels from {since} to {until}")
    elif since or until:
        parts.append(f"labels from {since} on" if since else f"labels up to {until}")
    return f"Only {'; '.join(parts)}" if parts else ""
