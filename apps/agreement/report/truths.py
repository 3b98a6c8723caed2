"""The truths of a report, its methods, and the part of the labels it is about."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop, pgettext

from apps.common.charts import KIND_WORDS, TEXT_MATCHER
from apps.common.methods import method_words, without_code
from labelhub.core.agreement.reports.other_annotators import OTHERS, THESE
from labelhub.core.agreement.reports.replacement import INAPPLICABLE
from labelhub.core.schema import TASKS

Report = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Truth:
    """``by``: author or gold, as in addresses; ``name``: as after "against" and "by".

    ``measure``: the figure of how often, or for free texts how far, a kind is right.
    """

    by: str
    name: str
    found: Mapping[str, Any]
    measure: str = "majority_accuracy"

    def figure(self, kind: str) -> Mapping[str, Any]:
        """How often a kind's answer to an item is right; for free texts the share of words in
        common with the truth."""
        figures: Mapping[str, Any] = self.found[kind]
        shown: Mapping[str, Any] = figures[self.measure]
        return shown

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
    found = [
        Truth(by, truth_name(by), report[f"against_{by}"], measure) for by in ("author", "gold")
    ]
    return [truth for truth in found if truth.kinds]


def applicable_tests(report: Report) -> dict[str, Mapping[str, Any]]:
    """Machine → its alternative annotator test; empty where the test is of no use."""
    tests: Mapping[str, Mapping[str, Any]] = report["alt_test"]
    return {name: test for name, test in tests.items() if test["reason"] not in INAPPLICABLE}


def truth_name(by: str) -> str:
    return pgettext("truth", "the author") if by == "author" else pgettext("truth", "gold")


def short_name(report: Report, kind: str) -> str:
    """The name of a kind; the text matcher is never called an LLM."""
    if kind in ("llm", "model") and report["offline"].get(kind):
        return gettext(TEXT_MATCHER)
    return gettext(KIND_WORDS.get(kind, kind))


def interval_methods(report: Report) -> list[str]:
    """The methods of all figures that have an interval, those of most figures first; without the
    annotators that it is for."""
    found = Counter(
        figure["method"].rpartition("; ")[0]
        for figure in _figures(report)
        if figure.get("low") is not None and figure.get("method")
    )
    return [method_words(method) for method, _ in found.most_common()]


def scope_words(report: Report) -> str:
    """For which annotators the intervals are."""
    return gettext(THESE if report["intervals"] == "these" else OTHERS)


def doubts(report: Report) -> list[str]:
    """Why some intervals may be too narrow, without the codes before the words."""
    found = Counter(
        without_code(part)
        for figure in _figures(report)
        if figure.get("doubt") and figure.get("low") is not None
        for part in str(figure["doubt"]).split("; ")
    )
    return [method_words(words) for words, _ in found.most_common()]


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


_LABELS_OF = {
    "llm": gettext_noop("labels by LLMs"),
    "crowd": gettext_noop("labels by the crowd"),
    "expert": gettext_noop("labels by experts"),
    "author": gettext_noop("labels by authors"),
    "model": gettext_noop("labels by models"),
}


def part_words(report: Report, who: str = "") -> str:
    """``Only items tagged “urgent”, labels by the crowd``; empty if it is about all labels.

    ``who``: the title of the only annotator, where the slice has one.
    """
    asked = report["slice"]
    parts = []
    if tag := asked.get("tag"):
        words = gettext("items with “%(tag)s”") if "=" in tag else gettext("items tagged “%(tag)s”")
        parts.append(words % {"tag": tag})
    if kind := asked.get("kind"):
        parts.append(gettext(_LABELS_OF[kind]))
    if annotator := asked.get("annotator"):
        name = who or gettext("annotator %(number)s") % {"number": annotator}
        parts.append(gettext("labels by %(name)s") % {"name": name})
    if run := asked.get("run"):
        words = gettext("machines' labels of run %(run)s")
        if "replicate" in asked:
            words = gettext("machines' labels of run %(run)s, replicate %(replicate)s")
        parts.append(words % {"run": run, "replicate": asked.get("replicate")})
    if label := asked.get("label"):
        parts.append(gettext("whether it is “%(label)s” or not") % {"label": label})
    parts += _days(asked.get("since"), asked.get("until"))
    return gettext("Only %(parts)s") % {"parts": "; ".join(parts)} if parts else ""


def _days(since: str | None, until: str | None) -> list[str]:
    first, last = (date_format(date.fromisoformat(day)) if day else "" for day in (since, until))
    if since and until:
        if since == until:
            return [gettext("labels of %(day)s") % {"day": first}]
        words = gettext("labels from %(first)s to %(last)s")
    elif since:
        words = gettext("labels from %(first)s on")
    elif until:
        words = gettext("labels up to %(last)s")
    else:
        return []
    return [words % {"first": first, "last": last}]
