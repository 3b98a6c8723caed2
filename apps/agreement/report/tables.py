"""The tables of a report: measures of each kind, comparisons of kinds, trust by label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop

from apps.agreement.charts import is_share, step_of
from apps.agreement.report.truths import Report, Truth, short_name, truths_of
from apps.common.charts import KIND_WORDS, TEXT_MATCHER
from apps.common.figures import (
    count_words,
    draw_figure,
    localise,
    number_words,
    range_words,
    share_words,
)
from apps.common.methods import method_words, without_code
from apps.common.values import join_names
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.agreement.reports.reasons import NO_ABSTENTIONS
from labelhub.core.schema import TASKS

MAIN_WORDS = {
    "alpha_nominal": gettext_noop("Krippendorff's α"),
    "alpha_ordinal": gettext_noop("Krippendorff's ordinal α"),
    "alpha_masi": gettext_noop("α by MASI"),
    "s_q": gettext_noop("S_q"),
    "alpha_token_f1": gettext_noop("α by shared words"),
    "token_f1": gettext_noop("shared words, F1"),
}
COEFFICIENT_WORDS = {
    "alpha_token_f1": gettext_noop("α by shared words"),
    **MAIN_WORDS,
    "percent": gettext_noop("observed agreement"),
    "percent_with_abstentions": gettext_noop("observed agreement, “unsure” as an answer"),
    "alpha_with_abstentions": gettext_noop("α, “unsure” as an answer"),
    "alpha_jaccard": gettext_noop("α by Jaccard"),
    "alpha_interval": gettext_noop("interval α"),
    "alpha_ratio": gettext_noop("ratio α"),
    "gwet_ac1": gettext_noop("Gwet's AC1"),
    "gwet_ac2": gettext_noop("Gwet's AC2, quadratic"),
    "brennan_prediger": gettext_noop("Brennan–Prediger"),
    "fleiss_kappa": gettext_noop("Fleiss' κ"),
    "conger_kappa": gettext_noop("Conger's κ"),
    "icc_2_1": gettext_noop("ICC(2,1)"),
    "icc_2_k": gettext_noop("ICC(2,k)"),
    "token_f1": gettext_noop("shared words, F1"),
}
#: How often a kind is right against a truth, by every way of combining an item's labels.
WAYS = {
    "accuracy": gettext_noop("single labels"),
    "majority_accuracy": gettext_noop("majority vote"),
    "dawid_skene_accuracy": gettext_noop("Dawid–Skene"),
    "mace_accuracy": gettext_noop("MACE"),
    "weighted_accuracy": gettext_noop("weighted vote"),
    "median_accuracy": gettext_noop("median"),
    "medoid_accuracy": gettext_noop("answer nearest to the others"),
}
#: Of free texts these come first, as in the chart: few texts are equal word for word.
TEXT_WAYS = {
    "token_f1": gettext_noop("shared words"),
    "medoid_token_f1": gettext_noop("shared words of the answer nearest to the others"),
    "accuracy": gettext_noop("equal text"),
}
#: Words of the other measures against a truth; any further one is named by its key.
MEASURES = {
    "cohen_kappa": gettext_noop("Cohen's κ of single labels"),
    "majority_kappa": gettext_noop("κ of majority votes"),
    "js_divergence": gettext_noop("divergence of the answer distributions (Jensen–Shannon, bits)"),
    "macro_precision": gettext_noop("macro precision"),
    "macro_recall": gettext_noop("macro recall"),
    "macro_f1": gettext_noop("macro F1"),
    "balanced_accuracy": gettext_noop("balanced accuracy"),
    "mcc": gettext_noop("Matthews' correlation"),
    "lift_over_guessing": gettext_noop("better than guessing by"),
    "mean_absolute_error": gettext_noop("mean distance, in points"),
    "root_mean_squared_error": gettext_noop("root mean squared distance, in points"),
    "spearman": gettext_noop("Spearman's ρ"),
    "quadratic_kappa": gettext_noop("quadratic κ"),
    "median_mean_absolute_error": gettext_noop("mean distance of the median, in points"),
    "median_root_mean_squared_error": gettext_noop(
        "root mean squared distance of the median, in points"
    ),
    "median_spearman": gettext_noop("Spearman's ρ of the median"),
    "median_quadratic_kappa": gettext_noop("quadratic κ of the median"),
    "token_f1": gettext_noop("shared words, F1"),
    "medoid_token_f1": gettext_noop("shared words of the answer nearest to the others, F1"),
    "exact_match": gettext_noop("exact match"),
    "hamming_loss": gettext_noop("wrong decisions per label (Hamming)"),
    "label_majority_accuracy": gettext_noop("accuracy of decisions per label, by majority vote"),
    "label_dawid_skene_accuracy": gettext_noop("accuracy of decisions per label, by Dawid–Skene"),
    "micro_precision": gettext_noop("micro precision"),
    "micro_recall": gettext_noop("micro recall"),
    "micro_f1": gettext_noop("micro F1"),
}


def main_coefficient(report: Report) -> str:
    """The coefficient that is recommended for the project's task."""
    task = TASKS["single" if report["slice"].get("label") else report["task"]]
    return task.coefficients[0]


LEAST_P = 0.001


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """``better`` is right at least as often as ``worse`` on the items of both.

    ``difference``: in percentage points with its interval; ``only_better``, ``only_worse``: items
    on which one alone is right, or more than the other. ``p`` is corrected for the number of pairs.
    ``own``: the kinds of the two that made decisions of the truth themselves.
    """

    better: str
    worse: str
    words: str
    settled: bool
    difference: str
    items: int
    only_better: int
    only_worse: int
    p: str
    own: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ComparedKinds:
    """All pairs by one truth; ``overall`` is Cochran's Q in words, ``methods`` the tests."""

    truth: Truth
    overall: str
    pairs: Sequence[ComparedPair]
    methods: Sequence[str]
    doubts: Sequence[str]


def compared_kinds(report: Report) -> list[ComparedKinds]:
    """One table for each truth by which two kinds can be compared."""
    found = []
    for truth in truths_of(report):
        test = report["comparisons"].get(truth.by)
        pairs = [pair for pair in test["pairs"] if pair["items"]] if test else []
        # A free text is right if it is equal word for word: without any the test is meaningless.
        alone = any(pair["only_a"] + pair["only_b"] for pair in pairs)
        if not pairs or (TASKS[report["task"]].written and not alone):
            continue
        if test["cochran_q"] is None:
            overall = gettext(
                "On the %(items)s items that all %(kinds)s answered they do not differ."
            )
        else:
            overall = gettext(
                "Over the %(items)s items that all %(kinds)s answered: Q %(q)s, p %(p)s."
            )
        overall %= {
            "items": count_words(test["items"]),
            "kinds": len(test["kinds"]),
            "q": number_words(test["cochran_q"] or 0.0),
            "p": p_words(test["p"]),
        }
        doubts = (without_code(pair.get("doubt") or "") for pair in pairs)
        found.append(
            ComparedKinds(
                truth=truth,
                overall=overall,
                pairs=[_compared(report, truth, pair) for pair in pairs],
                methods=[
                    method_words(method)
                    for method in dict.fromkeys(tested["method"] for tested in (test, *pairs))
                ],
                doubts=[method_words(doubt) for doubt in dict.fromkeys(doubts) if doubt],
            )
        )
    return found


def p_words(p: float | None) -> str:
    """``0.03``, ``0.004``, ``< 0.001``; a dash where there is no test."""
    if p is None:
        return "–"
    if p < LEAST_P:
        return localise(f"< {LEAST_P:g}")
    # Three digits, so that a p below 0.05 is never shown as 0.05.
    return number_words(p) if p >= 0.1 else localise(f"{p:.3f}")


def points(figure: Mapping[str, Any], *, turned: bool = False) -> str:
    """A difference of shares in percentage points: ``+13 (0 to +26)``."""
    ends = [figure["value"], figure.get("low"), figure.get("high")]
    if ends[0] is None:
        return "–"
    if turned:
        value, low, high = (None if end is None else -end for end in ends)
        ends = [value, high, low]
    known = [round(end * 100) + 0 for end in ends if end is not None]
    words = [localise(f"{end:+d}") if end else "0" for end in known]
    if len(words) < 3:
        return words[0]
    return f"{words[0]} ({range_words(words[1], words[2])})"


def _compared(report: Report, truth: Truth, pair: Mapping[str, Any]) -> ComparedPair:
    turned = (pair["difference"]["value"] or 0) < 0
    first, second = ("b", "a") if turned else ("a", "b")
    better, worse = pair[first], pair[second]
    names = [short_name(report, kind) for kind in (better, worse)]
    settled = bool(pair["reliable"])
    words = join_names(names)
    if settled:
        words = gettext("%(names)s more often than %(last)s") % {
            "names": names[0],
            "last": names[1],
        }
    return ComparedPair(
        better=better,
        worse=worse,
        words=words,
        settled=settled,
        difference=points(pair["difference"], turned=turned),
        items=pair["items"],
        only_better=pair[f"only_{first}"],
        only_worse=pair[f"only_{second}"],
        p=p_words(pair["p_holm"]),
        own=[kind for kind in (better, worse) if truth.found[kind]["own_decisions"]],
    )


NOT_HERE = undefined(gettext_noop("Does not apply here."))


@dataclass(frozen=True, slots=True)
class Column:
    """A kind: ``items`` it is measured on, ``own`` of whose decisions it made itself, and ``ties``:
    items on which it has no single most frequent answer."""

    kind: str
    offline: bool
    items: int = 0
    own: int = 0
    ties: int = 0

    @property
    def name(self) -> str:
        """The kind's name; the text matcher is not called an LLM."""
        return gettext(TEXT_MATCHER if self.offline else KIND_WORDS[self.kind])


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One figure of every kind; a null one has its reason in words."""

    name: str
    words: str
    percent: bool
    cells: Sequence[tuple[Column, Figure]]


@dataclass(frozen=True, slots=True)
class Measures:
    """``rows`` are shown first, ``more`` on demand."""

    columns: Sequence[Column]
    rows: Sequence[MeasureRow]
    more: Sequence[MeasureRow] = ()


def coefficients(report: Report) -> Measures:
    """Every coefficient of every kind within itself, the one to read first."""
    columns = [Column(kind, kind in report["offline"]) for kind in report["within"]]
    names = dict.fromkeys(
        name
        for figures in report["within"].values()
        for name, shown in figures.items()
        if shown.get("reason") != NO_ABSTENTIONS
    )
    main = main_coefficient(report)
    order = sorted(names, key=lambda name: (name != main, name != "percent"))
    figures = report["within"]
    return Measures(
        columns,
        [_row(report, columns, figures, name, COEFFICIENT_WORDS.get(name)) for name in order],
    )


def measures_against(report: Report, truth: Truth) -> Measures:
    """Every kind against a truth: by all ways of aggregating labels, then the rest."""
    columns = [
        Column(
            kind,
            kind in report["offline"],
            items=truth.found[kind]["items"],
            own=truth.found[kind]["own_decisions"],
            # Of sets each label is decided by itself: whole ones that are tied do not count.
            ties=0 if TASKS[report["task"]].several else truth.found[kind]["ties"],
        )
        for kind in truth.kinds
    ]
    figures = {kind: truth.found[kind] for kind in truth.kinds}
    names = dict.fromkeys(
        name
        for found in figures.values()
        for name, shown in found.items()
        if isinstance(shown, Mapping) and "value" in shown
    )
    first = [*TEXT_WAYS, *WAYS] if TASKS[report["task"]].written else list(WAYS)
    ways = [name for name in dict.fromkeys(first) if name in names]
    rest = [name for name in names if name not in ways]
    return Measures(
        columns,
        [_row(report, columns, figures, name) for name in ways],
        [_row(report, columns, figures, name) for name in rest],
    )


def tie_words(columns: Sequence[Column]) -> str:
    """A sentence on items without a single most frequent answer; empty without any."""
    tied = [f"{column.name} {count_words(column.ties)}" for column in columns if column.ties]
    if not tied:
        return ""
    return gettext("Items with a tie count in part: %(kinds)s.") % {"kinds": ", ".join(tied)}


def weight_words(items: float) -> str:
    """A count of items that may be shared by tied answers: ``12``, ``1.5``."""
    return count_words(items) if items % 1 == 0 else localise(f"{items:,.1f}")


def _row(
    report: Report,
    columns: Sequence[Column],
    figures: Mapping[str, Mapping[str, Any]],
    name: str,
    words: str | None = None,
) -> MeasureRow:
    cells = []
    for column in columns:
        shown = figures[column.kind].get(name, NOT_HERE)
        if shown["value"] is None:
            reason = report["reasons"].get(shown["reason"], shown["reason"])
            shown = undefined(gettext(reason))
        cells.append((column, shown))
    words = words or WAYS.get(name) or MEASURES.get(name)
    return MeasureRow(
        name,
        gettext(words) if words else name.replace("_", " "),
        percent=is_share(name),
        cells=cells,
    )


def confidence_rows(report: Report) -> Sequence[dict[str, Any]]:
    """Each machine that states a confidence and can be measured by a truth, on ``n`` items: in
    words its mean confidence (``sure``), how often it is ``right``, the expected calibration
    ``error`` in points, and its ``brier`` score."""
    found = []
    for name, machine in report["calibration"].items():
        bins, n = machine["bins"], machine["n"]
        sure = sum(row["confidence"] * row["right"]["n"] for row in bins) / n
        right = sum(row["right"]["value"] * row["right"]["n"] for row in bins) / n
        error, brier = machine["expected_calibration_error"], machine["brier"]
        found.append(
            {
                "name": name,
                "kind": machine["kind"],
                "offline": name in report["offline"].get(machine["kind"], ()),
                "n": n,
                "sure": share_words(sure),
                "right": share_words(right),
                "error": "–" if error is None else f"{error * 100:.0f}",
                "brier": "–" if brier is None else number_words(brier),
            }
        )
    return found


#: Confusions of one kind that are listed.
MOST_MISTAKEN = 8


def shared_items(report: Report, truth: Truth) -> int:
    """On how many items the kinds can be compared: those that all of them answered."""
    return int((report["comparisons"].get(truth.by) or {}).get("items", 0))


def trust_table(
    report: Report, truth: Truth, *, shared: bool = False
) -> tuple[Sequence[str], Sequence[dict[str, Any]]]:
    """The kinds in their order, and a row for each label; empty without shared labels.

    A row has the ``label``, on how many ``items`` it is true (None if not counted), and the F1 of
    each kind in its ``cells``; there ``best`` is significantly better than every other kind, and
    ``right``, ``wrong`` and ``missed`` are items to which the kind rightly gives the label, wrongly
    gives it, or does not give it although it is true; tied answers count in part.
    ``shared``: F1 on the items that all kinds answered, where there are any; else on all of each.
    """
    kinds = [
        kind
        for kind in truth.kinds
        if truth.found[kind]["per_label"] and not (kind == truth.by == "author")
    ]
    scores = {
        kind: {score["label"]: score for score in truth.found[kind]["per_label"]} for kind in kinds
    }
    # Reports that were stored by earlier versions do not count the truths.
    truly = (report.get("truths") or {}).get(truth.by, {})
    comparison = report["comparisons"].get(truth.by) or {"labels": ()}
    compared = {found["label"]: found for found in comparison["labels"]} if shared else {}
    rows = []
    for label in scores[kinds[0]] if kinds else ():
        found = compared.get(label, {"f1": {}, "best": None})
        cells = []
        for kind in kinds:
            score = scores[kind][label]
            f1, counts = found["f1"].get(kind, score["f1"]), score["counts"]
            drawn = draw_figure(f1)
            reason = report["reasons"].get(drawn.reason, drawn.reason)
            cells.append(
                {
                    "kind": kind,
                    "name": short_name(report, kind),
                    "value": drawn.value or "–",
                    "step": 0 if drawn.reason else step_of(f1["value"]),
                    "best": found["best"] == kind,
                    "right": counts["predicted_yes_gold_yes"],
                    "wrong": counts["predicted_yes_gold_no"],
                    "missed": counts["predicted_no_gold_yes"],
                    "interval": range_words(drawn.low, drawn.high) if drawn.low else drawn.note,
                    "reason": gettext(reason) if reason else "",
                }
            )
        rows.append({"label": label, "items": truly.get(label), "cells": cells})
    return kinds, rows


def confusions(truth: Truth) -> Mapping[str, Sequence[tuple[str, str, float]]]:
    """Kind → its confusions, the most frequent first: what it says, what is true, on how many
    items."""
    found = {}
    for kind in truth.kinds:
        confusion = truth.found[kind]["confusion"] or {}
        labels = truth.found[kind].get("confusion_labels", ())
        cells = [
            (predicted, meant, items)
            for predicted in labels
            for meant in labels
            if predicted != meant
            and (items := confusion.get(f"predicted {predicted}, gold {meant}"))
        ]
        if cells:
            found[kind] = sorted(cells, key=lambda cell: -cell[2])[:MOST_MISTAKEN]
    return found
