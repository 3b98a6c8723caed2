"""The context of the agreement page."""

import re
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import find
from django.utils import timezone

from apps.agreement.report.charts import CHARTS
from apps.agreement.report.sentences import sentences
from apps.agreement.report.slices import annotator_title
from apps.agreement.report.tables import (
    COEFFICIENT_WORDS,
    MAIN_WORDS,
    coefficients,
    compared_kinds,
    confidence_rows,
    confusions,
    main_coefficient,
    measures_against,
    trust_table,
)
from apps.agreement.report.truths import Report, doubts, interval_methods, part_words, truths_of
from apps.debates.models import Debate
from apps.projects.models import Item, Project
from labelhub.core.schema import TASKS

SNIPPET = 160
#: Shown beside the main coefficient; the others on demand.
FIRST = "percent"
#: Coefficients to compare with where one label prevails: they are not low there.
BESIDE = {"alpha_nominal": "AC1", "alpha_ordinal": "AC2"}
#: Charts that are fetched separately or shown otherwise.
ELSEWHERE = ("annotators", "trust")


def report_page(project: Project, report: Report) -> dict[str, Any]:
    """Context of the report's part of the page."""
    main, truths, offline = main_coefficient(report), truths_of(report), report["offline"]
    trust_kinds, trust_rows = trust_table(report, truths[0]) if truths else ([], [])
    first = [COEFFICIENT_WORDS.get(name, name) for name in dict.fromkeys((main, FIRST))]
    own = coefficients(report)
    return {
        "report": report,
        "label_type": TASKS[report["task"]],
        "sentences": sentences(report),
        "part": part_words(report, annotator_title(project, report["slice"].get("annotator"))),
        # Accuracy: by the first truth in full, by the others in numbers.
        "truth": truths[0] if truths else None,
        "truths": [(truth, measures_against(report, truth)) for truth in truths],
        "trust_kinds": [(kind, kind in offline) for kind in trust_kinds],
        "trust_rows": trust_rows,
        "compared": compared_kinds(report),
        "mistaken": confusions(report, truths[0]) if truths else {},
        "kind_rows": [
            {
                "kind": column.kind,
                "offline": column.offline,
                "counts": report["sources"][column.kind],
                "figures": [
                    (row.words, row.percent, row.cells[place][1])
                    for row in own.rows
                    if row.words in first
                ],
            }
            for place, column in enumerate(own.columns)
            if column.kind in report["sources"]
        ],
        "coefficients": own,
        # Pairs of kinds, or one kind twice, that share an item: where they can differ.
        "differing": [
            *(
                (pair["a"], pair["b"])
                for pair in report["between"]
                if pair["level"] == "kind" and pair["items"]
            ),
            *(
                (kind, kind)
                for kind, found in report["within"].items()
                if found[FIRST]["value"] is not None
            ),
        ],
        "repeats_by_kind": [
            {**found, "kind": kind, "name": "", "offline": kind in offline}
            for kind, found in report["intra"].items()
        ],
        "repeats_by_annotator": [
            {**row, "kind": kind, "name": row["annotator"], "offline": kind in offline}
            for kind, found in report["intra"].items()
            for row in found["by_annotator"]
        ],
        "sureness": confidence_rows(report),
        "methods": interval_methods(report),
        "doubts": doubts(report),
        "charts": {
            name.replace("-", "_"): draw(report)
            for name, draw in CHARTS.items()
            if name not in ELSEWHERE
        },
        "several": sum(pair["level"] == "annotator" for pair in report["between"]) > 1,
        "machines": [
            (name, found, name in offline.get(found["kind"], ()))
            for name, found in report["alt_test"].items()
        ],
        "divided": _divided(project, report),
        "main": MAIN_WORDS[main],
        "where_one_prevails": BESIDE.get(main, ""),
        "costs": [
            (kind, report["cost"][kind], kind in offline)
            for kind in report["sources"]
            if kind in report["cost"]
        ],
        "made_at": timezone.now(),
    }


def _divided(project: Project, report: Report) -> list[dict[str, Any]]:
    """The items on which people disagree most, with links to their text and debate."""
    ids = [row["item"] for row in report["most_divided"]]
    items = Item.objects.filter(project=project).in_bulk(ids)
    debates = Debate.objects.filter(item__in=ids, run__trial=False).order_by("pk")
    held = dict(debates.values_list("item_id", "pk"))
    return [
        {
            **row,
            "item": items[row["item"]],
            "snippet": items[row["item"]].text[:SNIPPET],
            "debate_id": held.get(row["item"]),
        }
        for row in report["most_divided"]
        if row["item"] in items
    ]


SHEETS = (
    "tokens", "base", "components/icon", "components/card", "components/callout",
    "components/badge", "components/table", "components/figure", "components/chart",
    "components/text", "layout", "agreement", "standing",
)  # fmt: skip
_USE = re.compile(r'href="[^"#]*icons[^"#]*#([\w-]+)"')
_SYMBOL = re.compile(r'<symbol id="([\w-]+)".*?</symbol>', re.DOTALL)
_BODY = re.compile(r"(<body[^>]*>)")


def standalone_page(page: str) -> str:
    """``page`` with the styles of the agreement page and the icons it uses within."""
    used = set(_USE.findall(page))
    drawn = _read("icons.svg")
    kept = [found[0] for found in _SYMBOL.finditer(drawn) if found[1] in used]
    sprite = f'<svg xmlns="http://www.w3.org/2000/svg" hidden>{"".join(kept)}</svg>'
    sheet = "\n".join(_read(f"css/{name}.css") for name in SHEETS)
    page = _USE.sub(r'href="#\1"', page).replace("</head>", f"<style>{sheet}</style></head>", 1)
    return _BODY.sub(lambda body: body[0] + sprite, page, count=1)


def _read(path: str) -> str:
    return Path(str(find(path))).read_text(encoding="utf-8")
