"""The charts of a report by name, so that page and downloads draw the same ones."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from apps.agreement import charts
from apps.agreement.charts import Measured, Offer, figure_columns
from apps.agreement.report.tables import MAIN_WORDS, TEXT_WAYS, main_coefficient, trust_table
from apps.agreement.report.truths import Report, Truth, short_name, truths_of
from apps.common.charts import Chart
from labelhub.core.agreement.calibration import Bin
from labelhub.core.schema import TASKS

AnyFigure = Mapping[str, Any]


def offers(report: Report, truth: Truth, unit: str) -> list[Offer]:
    """Of every kind that can be measured by ``truth`` and whose costs are known.

    ``unit``: ``per_label`` or ``seconds``. A vote of three costs what three labels cost, and takes
    the time of three people, whoever works beside whom.
    """
    kinds = [kind for kind in truth.kinds if kind in report["cost"]]
    return [
        offer
        for kind in kinds
        if kind != "author" or truth.key == "against_gold"
        for offer in _of_kind(report, kind, truth.found[kind], unit)
    ]


def _of_kind(report: Report, kind: str, found: Mapping[str, Any], unit: str) -> Iterator[Offer]:
    name, one = short_name(report, kind), report["cost"][kind][unit]
    if not found["by_votes"]:
        yield Offer(name, kind, one, found["accuracy"])
    for votes in found["by_votes"]:
        many = votes["votes"]
        called = name if many == 1 else f"{name} × {many}"
        yield Offer(called, kind, _times(one, many), votes["accuracy"])


def _times(one: AnyFigure, many: int) -> AnyFigure:
    ends = ("value", "low", "high")
    known = {end: one[end] * many for end in ends if one.get(end) is not None}
    return {**one, **known}


Draw = Callable[[Report], Chart | None]
COUNTS = {
    "predicted_yes_gold_yes": "rightly said",
    "predicted_yes_gold_no": "wrongly said",
    "predicted_no_gold_yes": "missed",
}
WAYS = {
    "accuracy": "single labels",
    "majority_accuracy": "majority",
    "dawid_skene_accuracy": "Dawid–Skene",
}


def heatmap(report: Report) -> Chart | None:
    """Kinds with each other: a coefficient beyond chance, or percent where there is none."""
    between, within, percent = _of_pairs(report)
    sources, figures = charts.report_pairs(report, between=between, within=within)
    sources = [replace(each, name=short_name(report, each.kind)) for each in sources]
    return charts.heatmap(
        sources,
        figures,
        of=_pair_words(between),
        within=MAIN_WORDS[within],
        title="Agreement within and between kinds",
        percent=percent,
        key="heatmap",
    )


def annotators(report: Report) -> Chart | None:
    """Annotators with each other."""
    between, within, percent = _of_pairs(report)
    sources, figures = charts.report_pairs(
        report, between=between, within=within, level="annotator"
    )
    return charts.heatmap(
        sources,
        figures,
        of=_pair_words(between),
        title="Agreement between annotators",
        percent=percent,
        key="annotators",
    )


def accuracy(report: Report) -> Chart | None:
    """Each kind against the truth, by every way of putting its labels together."""
    truth = _truth(report)
    if truth is None:
        return None
    kinds = [kind for kind in truth.kinds if kind != "author" or truth.key == "against_gold"]
    ways = TEXT_WAYS if TASKS[report["task"]].written else WAYS
    sources = [
        Measured(short_name(report, kind), kind, _told(truth.found[kind], ways)) for kind in kinds
    ]
    return charts.interval_bars(
        sources,
        of=f"Right against {truth.name}",
        title=f"Right against {truth.name}",
        key="accuracy",
    )


def agreeing(report: Report) -> Chart | None:
    """Accuracy by how many annotators agree."""
    truth = _truth(report)
    if truth is None:
        return None
    groups = {kind: truth.found[kind]["by_agreeing"] for kind in truth.kinds if kind != "author"}
    if sum(len(rows) > 1 for rows in groups.values()) == 0:
        return None
    names = {kind: short_name(report, kind) for kind in groups}
    return charts.agreeing(groups, names=names, truth=truth.name)


def confusion_of(kind: str) -> Draw:
    """The matrix of one kind against the truth."""

    def draw(report: Report) -> Chart | None:
        truth = _truth(report)
        told = truth.found.get(kind) if truth else None
        if truth is None or not told or not told["confusion"]:
            return None
        labels = report["categories"]
        counts = {
            (said, true): told["confusion"][f"predicted {said}, gold {true}"]
            for said in labels
            for true in labels
        }
        return charts.confusion(
            labels,
            counts,
            title=f"{short_name(report, kind)} against {truth.name}",
            key=f"confusion-{kind}",
            truth=truth.name,
        )

    return draw


def replacement(report: Report) -> Chart | None:
    """Winning rate of each machine over epsilon."""
    return charts.winning_rates(report["alt_test"])


def replacement_by_author(report: Report) -> Chart | None:
    """The same with the author's answer as the truth."""
    title = "The same, measured by the author's own answer"
    return charts.winning_rates(report["alt_test_by_author"], title=title, key="curve-by-author")


def cost(report: Report) -> Chart | None:
    """What an answer of each kind costs, against how often it is right."""
    truth = _truth(report)
    return charts.cost_quality(offers(report, truth, "per_label"), unit="USD") if truth else None


def seconds(report: Report) -> Chart | None:
    """How long an answer of each kind takes, against how often it is right."""
    truth = _truth(report)
    if truth is None:
        return None
    return charts.cost_quality(offers(report, truth, "seconds"), unit="s", key="time-quality")


def reliability(report: Report) -> Chart | None:
    """How sure the machine with most answers says it is, against how often it is right."""
    found = report["calibration"]
    if not found:
        return None
    # With one bin nothing shows whether it is more often right where it is surer.
    name = max(found, key=lambda each: (len(found[each]["bins"]) > 1, found[each]["n"]))
    bins = [
        Bin(one["low"], one["high"], one["confidence"], one["right"]) for one in found[name]["bins"]
    ]
    return charts.reliability(bins, name=name, kind=found[name]["kind"]) if len(bins) > 1 else None


def trust(report: Report) -> Chart | None:
    """Whom to trust for what, as a table: the page has cells of its own for it."""
    truth = _truth(report)
    kinds, _ = trust_table(report, truth) if truth else ([], [])
    if truth is None or not kinds:
        return None
    return Chart(
        key="trust",
        title=f"F1 of each kind on each label, against {truth.name}",
        rows=[
            {
                "label": score["label"],
                "kind": kind,
                **figure_columns(score["f1"]),
                **{words: score["counts"][count] for count, words in COUNTS.items()},
            }
            for kind in kinds
            for score in truth.found[kind]["per_label"]
        ],
    )


CHARTS: Mapping[str, Draw] = {
    "trust": trust,
    "heatmap": heatmap,
    "annotators": annotators,
    "accuracy": accuracy,
    "agreeing": agreeing,
    "replacement": replacement,
    "replacement-by-author": replacement_by_author,
    "cost": cost,
    "seconds": seconds,
    "reliability": reliability,
    **{f"confusion-{kind}": confusion_of(kind) for kind in ("llm", "crowd", "expert", "model")},
}


def _truth(report: Report) -> Truth | None:
    return next(iter(truths_of(report)), None)


def _told(found: Mapping[str, Any], ways: Mapping[str, str]) -> dict[str, Any]:
    return {
        words: found[name]
        for name, words in ways.items()
        if name in found and found[name]["value"] is not None
    }


def _of_pairs(report: Report) -> tuple[str, str, bool]:
    """Names of the coefficients between and within, and whether they are shares."""
    task = TASKS[report["task"]]
    if task.item_options:
        return "s_q", "s_q", False
    if task.written:
        return "token_f1", "token_f1", True
    return "cohen_kappa", main_coefficient(report), False


def _pair_words(between: str) -> str:
    return "Cohen's κ" if between == "cohen_kappa" else MAIN_WORDS[between]
