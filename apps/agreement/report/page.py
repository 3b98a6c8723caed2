"""What the agreement page is made of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import find
from django.utils import timezone

from apps.agreement.report.charts import CHARTS
from apps.agreement.report.sentences import sentences
from apps.agreement.report.slices import annotator_called
from apps.agreement.report.tables import (
    COEFFICIENT_WORDS,
    MAIN_WORDS,
    against,
    coefficients,
    compared_kinds,
    is_share,
    main_coefficient,
    mistaken,
    sureness,
    trust_table,
    with_words,
)
from apps.agreement.report.truths import Report, doubts, interval_methods, part_words, truths_of
from apps.debates.models import Debate
from apps.projects.models import Item, Project
from labelhub.core.agreement.figures import Figure
from labelhub.core.schema import TASKS

SNIPPET = 160
#: Beside the coefficient to read; the others are a click away.
FIRST = "percent"
#: What to compare it with where one label prevails; the rest does not fall so there.
BESIDE = {"alpha_nominal": "AC1", "alpha_ordinal": "AC2"}
#: Pictures that are fetched by themselves, or shown another way.
ELSEWHERE = ("annotators", "trust")


@dataclass(frozen=True, slots=True)
class KindRow:
    """A kind in the table of counts; ``figures`` beside the names of the columns, and whether
    they are shares."""

    kind: str
    counts: Mapping[str, int]
    figures: Sequence[tuple[str, bool, Figure]]
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
    main = main_coefficient(report)
    first = list(dict.fromkeys((main, FIRST)))
    return {
        "report": report,
        "label_type": TASKS[report["task"]],
        "sentences": sentences(report),
        "part": part_words(report, annotator_called(project, report["slice"].get("annotator"))),
        **_by_truth(report),
        "kind_rows": [_kind_row(report, kind, first) for kind in report["sources"]],
        "coefficients": coefficients(report),
        "differing": _differing(report),
        "sureness": sureness(report),
        "methods": interval_methods(report),
        "doubts": doubts(report),
        "charts": {
            name.replace("-", "_"): draw(report)
            for name, draw in CHARTS.items()
            if name not in ELSEWHERE
        },
        "several": sum(pair["level"] == "annotator" for pair in report["between"]) > 1,
        "machines": [
            (name, told, name in report["offline"].get(told["kind"], ()))
            for name, told in report["alt_test"].items()
        ],
        "divided": _divided(project, report),
        "main": MAIN_WORDS[main],
        "where_one_prevails": BESIDE.get(main, ""),
        "costs": [
            (kind, report["cost"][kind], kind in report["offline"])
            for kind in report["sources"]
            if kind in report["cost"]
        ],
        "made_at": timezone.now(),
    }


def _by_truth(report: Report) -> dict[str, Any]:
    """Who is right: by the first truth in full, by the others in numbers."""
    truths = truths_of(report)
    kinds, rows = trust_table(report, truths[0]) if truths else ([], [])
    return {
        "truth": truths[0] if truths else None,
        "truths": [(truth, against(report, truth)) for truth in truths],
        "trust_kinds": [(kind, kind in report["offline"]) for kind in kinds],
        "trust_rows": rows,
        "compared": compared_kinds(report),
        "mistaken": mistaken(report, truths[0]) if truths else {},
    }


def _kind_row(report: Report, kind: str, columns: Sequence[str]) -> KindRow:
    figures = report["within"][kind]
    return KindRow(
        kind=kind,
        counts=report["sources"][kind],
        figures=[
            (COEFFICIENT_WORDS.get(name, name), is_share(name), with_words(report, figures[name]))
            for name in columns
            if name in figures
        ],
        offline=kind in report["offline"],
    )


def _differing(report: Report) -> list[tuple[str, str]]:
    """Pairs of kinds, or one kind twice, that share an item: where they can differ."""
    pairs = [
        (pair["a"], pair["b"])
        for pair in report["between"]
        if pair["level"] == "kind" and pair["items"]
    ]
    within = [
        (kind, kind) for kind, told in report["within"].items() if told[FIRST]["value"] is not None
    ]
    return pairs + within


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


SHEETS = (
    "tokens", "base", "components/icon", "components/card", "components/callout",
    "components/badge", "components/table", "components/figure", "components/chart",
    "components/text", "layout", "agreement", "standing",
)  # fmt: skip
_USE = re.compile(r'href="[^"#]*icons[^"#]*#([\w-]+)"')
_SYMBOL = re.compile(r'<symbol id="([\w-]+)".*?</symbol>', re.DOTALL)
_BODY = re.compile(r"(<body[^>]*>)")


def alone(page: str) -> str:
    """``page`` with the styles of the agreement page and the icons it uses within."""
    used = set(_USE.findall(page))
    drawn = _read("icons.svg")
    kept = [found[0] for found in _SYMBOL.finditer(drawn) if found[1] in used]
    sprite = f'<svg xmlns="http://www.w3.org/2000/svg" hidden>{"".join(kept)}</svg>'
    sheet = "\n".join(_read(f"css/{name}.css") for name in SHEETS)
    page = _USE.sub(r'href="#\1"', page).replace("</head>", f"<style>{sheet}</style></head>", 1)
    return _BODY.sub(lambda body: body[0] + sprite, page, count=1)


def _read(path: str) -> str:
    place = find(path)
    if place is None:
        raise FileNotFoundError(path)
    return Path(str(place)).read_text(encoding="utf-8")
