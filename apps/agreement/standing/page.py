"""What the agreement page is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from apps.agreement.sources import evaluated_runs
from apps.agreement.standing.pictures import PICTURES
from apps.agreement.standing.trust import trust_table
from apps.agreement.standing.truths import Report, Truth, name_of, truths_of
from apps.agreement.standing.wording import MAIN_WORDS, main_coefficient, sentences
from apps.debates.models import Debate
from apps.labels.models import Annotator, Kind
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.figures import Figure

MOST_RUNS = 30
SNIPPET = 160
COEFFICIENT_WORDS = {
    **MAIN_WORDS,
    "percent": "pairs that agree",
    "alpha_jaccard": "α by Jaccard",
    "alpha_interval": "interval α",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2, quadratic",
    "brennan_prediger": "Brennan–Prediger",
    "fleiss_kappa": "Fleiss' κ",
}
#: Beside the coefficient to read; the others are a click away.
FIRST = ("percent", "gwet_ac1")
#: What the tables of numbers show of each kind, and what it is called there.
TRUTH_COLUMNS = {
    "accuracy": "single labels right",
    "majority_accuracy": "most frequent answer right",
    "dawid_skene_accuracy": "Dawid–Skene right",
    "cohen_kappa": "κ",
    "macro_f1": "macro F1",
    "js_divergence": "divergence",
}


@dataclass(frozen=True, slots=True)
class KindRow:
    """A kind in the table of counts; ``figures`` beside the names of the columns."""

    kind: str
    name: str
    counts: Mapping[str, int]
    figures: Sequence[tuple[str, Figure]]
    offline: bool


@dataclass(frozen=True, slots=True)
class DividedItem:
    """An item that divides people, one click from its text and debate."""

    item: Item
    snippet: str
    disagreement: float
    labels: int
    debate_id: int | None


def standing_page(project: Project, report: Report) -> dict[str, Any]:
    """Context of the report's part of the page."""
    truths = truths_of(report)
    kinds, rows = trust_table(truths[0]) if truths else ([], [])
    columns = ["percent", *_columns(report)]
    first = [name for name in columns if name in (*FIRST, main_coefficient(report))]
    return {
        "report": report,
        "sentences": sentences(report),
        "truth": truths[0] if truths else None,
        "truths": [_truth_rows(report, truth) for truth in truths],
        "trust_kinds": [(kind, kind in report["offline"]) for kind in kinds],
        "trust_rows": rows,
        "kind_rows": [_kind_row(report, kind, first) for kind in report["sources"]],
        "all_rows": [_kind_row(report, kind, columns) for kind in report["sources"]],
        "pictures": {
            name.replace("-", "_"): draw(report)
            for name, draw in PICTURES.items()
            if name != "annotators"
        },
        "several": sum(pair["level"] == "annotator" for pair in report["between"]) > 1,
        "machines": [
            (name, told, name in report["offline"].get(told["kind"], ()))
            for name, told in report["alt_test"].items()
        ],
        "divided": _divided(project, report),
        "truth_columns": list(TRUTH_COLUMNS.items()),
        "main": MAIN_WORDS[main_coefficient(report)],
        "costs": [
            (kind, report["cost"][kind], kind in report["offline"])
            for kind in report["sources"]
            if kind in report["cost"]
        ],
        "made_at": timezone.now(),
    }


def slice_choices(project: Project) -> dict[str, Any]:
    """What the form of the slice offers; three queries."""
    schema = current_schema(project).parsed
    kinds = Annotator.objects.filter(project=project).values_list("kind", flat=True)
    present = set(kinds.order_by().distinct())
    return {
        "kinds": [(kind, words) for kind, words in Kind.choices if kind in present],
        "runs": list(evaluated_runs(project)[:MOST_RUNS]),
        "labels": list(schema.names),
    }


def _columns(report: Report) -> list[str]:
    """The coefficients that are a number or were refused for a reason worth reading."""
    names: dict[str, None] = {}
    for figures in report["within"].values():
        names |= dict.fromkeys(figures)
    names.pop("percent", None)
    main = main_coefficient(report)
    return sorted(names, key=lambda name: name != main)


def _kind_row(report: Report, kind: str, columns: Sequence[str]) -> KindRow:
    figures = report["within"][kind]
    return KindRow(
        kind=kind,
        name=name_of(report, kind),
        counts=report["sources"][kind],
        figures=[
            (COEFFICIENT_WORDS.get(name, name), _with_words(report, figures[name]))
            for name in columns
            if name in figures
        ],
        offline=kind in report["offline"],
    )


def _with_words(report: Report, figure: Figure) -> Figure:
    """A null figure says its reason in words."""
    if figure["value"] is not None:
        return figure
    return {"value": None, "reason": report["reasons"].get(figure["reason"], figure["reason"])}


def _truth_rows(report: Report, truth: Truth) -> dict[str, Any]:
    return {
        "truth": truth,
        "rows": [
            {
                "kind": kind,
                "offline": kind in report["offline"],
                "told": truth.found[kind],
                "own": truth.found[kind]["own_decisions"],
                "figures": {
                    name: _with_words(report, truth.found[kind][name])
                    for name in TRUTH_COLUMNS
                    if name in truth.found[kind]
                },
            }
            for kind in truth.kinds
        ],
    }


def _divided(project: Project, report: Report) -> list[DividedItem]:
    told = {row["item"]: row for row in report["most_divided"]}
    items = {item.pk: item for item in Item.objects.filter(project=project, pk__in=list(told))}
    debates = Debate.objects.filter(item__in=list(items), run__trial=False).order_by("pk")
    held = dict(debates.values_list("item_id", "pk"))
    return [
        DividedItem(
            item=items[key],
            snippet=items[key].text[:SNIPPET],
            disagreement=row["disagreement"],
            labels=row["labels"],
            debate_id=held.get(key),
        )
        for key, row in told.items()
        if key in items
    ]
