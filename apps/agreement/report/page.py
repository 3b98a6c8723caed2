"""The contexts of the agreement page: its overview, and the tabs of its details."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import find
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.agreement.evaluation import is_gold_uncertain_first
from apps.agreement.report.charts import CHARTS
from apps.agreement.report.items import withheld_items
from apps.agreement.report.sentences import FEW_ITEMS, agreement_level, sentences
from apps.agreement.report.slices import (
    OTHERS,
    Slice,
    annotator_title,
    compared_annotators,
    created_within,
)
from apps.agreement.report.tables import (
    MAIN_WORDS,
    coefficients,
    compared_kinds,
    confidence_rows,
    confusions,
    main_coefficient,
    measures_against,
    shared_items,
    trust_table,
)
from apps.agreement.report.truths import (
    Report,
    applicable_tests,
    doubts,
    interval_methods,
    part_words,
    scope_words,
    short_name,
    truths_of,
)
from apps.labels.models import Label
from apps.labels.selectors import translated_answers
from apps.projects.models import Item, Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.reports.kind_agreement import PEOPLE, REVIEWERS
from labelhub.core.schema import TASKS

SNIPPET = 160
#: Shown beside the main coefficient; the others on demand.
FIRST = "percent"
#: Coefficients to compare with where one label prevails: they are not low there.
BESIDE = {"alpha_nominal": "AC1", "alpha_ordinal": "AC2"}
#: Items with disagreement, labels in the heat map, and competing labels of an item, on the page.
MOST_DIVIDED, MOST_LABELS, MOST_COMPETING = 5, 12, 4
#: Where most labels were given with a suggestion in view, agreement is an upper bound.
MOSTLY = 0.5
#: The tabs of the details, in their order.
TABS = {
    "coefficients": _("Coefficients"),
    "accuracy": _("Accuracy and cost"),
    "tests": _("Tests"),
    "annotators": _("Annotators"),
}


def shared_context(project: Project, report: Report, asked: Slice) -> dict[str, Any]:
    truths = truths_of(report)
    return {
        "report": report,
        "label_type": TASKS[report["task"]],
        "part": part_words(report, annotator_title(project, asked.annotator)),
        "query": asked.query,
        # Accuracy: by the first truth in full, by the others in numbers.
        "truth": truths[0] if truths else None,
        "main": gettext(MAIN_WORDS[main_coefficient(report)]),
        "tabs": TABS,
        "scope": scope_words(report),
    }


def overview(project: Project, report: Report, asked: Slice, reader: User) -> dict[str, Any]:
    """Context of the page: sentences, verdict, who is right about what, where people disagree."""
    context = shared_context(project, report, asked)
    truth, main = context["truth"], report["people"][main_coefficient(report)]
    in_view = report["labels_in_view"]
    kinds, rows = trust_table(report, truth, shared=True) if truth else ([], [])
    return context | {
        "sentences": sentences(report),
        "level": agreement_level(main),
        "agreement": main,
        "agreement_doubts": doubts(main),
        "few": FEW_ITEMS,
        "for_others": asked.intervals == OTHERS,
        "other_query": replace(asked, intervals="" if asked.intervals else OTHERS).query,
        "mostly_in_view": (in_view["value"] or 0) >= MOSTLY,
        "trust_kinds": [(kind, kind in report["offline"]) for kind in kinds],
        "trust_rows": rows[:MOST_LABELS],
        "trust_items": shared_items(report, truth) if truth else 0,
        "labels_left_out": len(rows[MOST_LABELS:]),
        "biased": truth is not None and truth.by == "gold" and is_gold_uncertain_first(project),
        "divided": _divided(project, report, asked, reader),
        "differing": [pair for pair in _differing(report) if set(pair[:2]) <= set(REVIEWERS)],
        "suggested": compared_annotators(report),
    }


def _divided(
    project: Project, report: Report, asked: Slice, reader: User
) -> Sequence[Mapping[str, Any]]:
    """The items on which people disagree most, with the competing labels, the most given first;
    without those that the reader has still to answer."""
    shares = {row["item"]: row["disagreement"] for row in report["most_divided"]}
    items = Item.objects.filter(project=project, pk__in=shares)
    items = items.exclude(pk__in=withheld_items(project, reader.pk))
    shown = sorted(items, key=lambda item: -shares[item.pk])[:MOST_DIVIDED]
    labels = Label.objects.independent().filter(
        created_within(asked), item__in=shown, annotator__kind__in=PEOPLE, value__isnull=False
    )
    if asked.kind:
        labels = labels.filter(annotator__kind=asked.kind)
    given: dict[int, Counter[str]] = {item.pk: Counter() for item in shown}
    schema = current_schema(project)
    for item, _annotator, value in translated_answers(schema, labels.order_by("pk")):
        # A translated answer may be spelled in another way than the database's.
        given[item][json.dumps(json.loads(value or "null"))] += 1
    return [
        {
            "item": item,
            "snippet": item.text[:SNIPPET],
            "share": shares[item.pk],
            "labels": [
                (json.loads(value), times)
                for value, times in given[item.pk].most_common(MOST_COMPETING)
            ],
        }
        for item in shown
    ]


def _differing(report: Report) -> Sequence[tuple[str, str, str, str]]:
    """Pairs of kinds with their names, or one kind twice, that share an item: where they can
    differ."""
    between = [
        (pair["a"], pair["b"])
        for pair in report["between"]
        if pair["level"] == "kind" and pair["items"]
    ]
    within = [
        (kind, kind)
        for kind, found in report["within"].items()
        if found[FIRST]["value"] is not None
    ]
    return [
        (first, second, short_name(report, first), short_name(report, second))
        for first, second in (*within, *between)
    ]


def _coefficients(report: Report) -> dict[str, Any]:
    main, own, offline = main_coefficient(report), coefficients(report), report["offline"]
    return {
        "kind_rows": [
            {
                "kind": column.kind,
                "offline": column.offline,
                "counts": report["sources"][column.kind],
                "figures": [
                    (row.words, row.percent, row.cells[place][1])
                    for row in own.rows
                    if row.name in (main, FIRST)
                ],
            }
            for place, column in enumerate(own.columns)
            if column.kind in report["sources"]
        ],
        "coefficients": own,
        "differing": _differing(report),
        "where_one_prevails": BESIDE.get(main, ""),
        "repeats_by_kind": [
            {**found, "kind": kind, "name": "", "offline": kind in offline}
            for kind, found in report["intra"].items()
            if found["repeats"]
        ],
        "heatmap": CHARTS["heatmap"](report),
        "methods": interval_methods(report),
        "doubts": doubts(report),
    }


def _accuracy(report: Report) -> dict[str, Any]:
    truths = truths_of(report)
    mistaken = confusions(truths[0]) if truths else {}
    return {
        "truths": [(truth, measures_against(report, truth)) for truth in truths],
        "label_scores": trust_table(report, truths[0])[1] if truths else [],
        "accuracy": CHARTS["accuracy"](report),
        "agreeing": CHARTS["agreeing"](report),
        "cost": CHARTS["cost"](report),
        "matrices": [
            (kind, f"confusion-{kind}", drawn, mistaken.get(kind, ()))
            for kind in ("llm", "crowd", "expert", "model")
            if (drawn := CHARTS[f"confusion-{kind}"](report))
        ],
        "costs": [
            (kind, report["cost"][kind], kind in report["offline"])
            for kind in report["sources"]
            if any(figure["value"] is not None for figure in report["cost"][kind].values())
        ],
    }


def _tests(report: Report) -> dict[str, Any]:
    found = {
        "compared": compared_kinds(report),
        "machines": [
            (name, test, name in report["offline"].get(test["kind"], ()))
            for name, test in applicable_tests(report).items()
        ],
        "sureness": confidence_rows(report),
    }
    return found | {
        "for_these": report["intervals"] == OTHERS and any(found.values()),
        "replacement": CHARTS["replacement"](report),
        "reliability": CHARTS["reliability"](report),
    }


def _annotators(report: Report) -> dict[str, Any]:
    return {
        "annotators": CHARTS["annotators"](report),
        "repeats_by_annotator": [
            {**row, "kind": kind, "name": row["annotator"], "offline": kind in report["offline"]}
            for kind, found in report["intra"].items()
            for row in found["by_annotator"]
        ],
    }


_DETAILS: Mapping[str, Callable[[Report], dict[str, Any]]] = {
    "coefficients": _coefficients,
    "accuracy": _accuracy,
    "tests": _tests,
    "annotators": _annotators,
}


def details(project: Project, report: Report, asked: Slice, tab: str) -> dict[str, Any]:
    """Context of one tab."""
    return shared_context(project, report, asked) | _DETAILS[tab](report)


def file_context(project: Project, report: Report, asked: Slice, reader: User) -> dict[str, Any]:
    """Context of the file: the overview without items, and the tabs that need no further query."""
    context = {"project": project, "alone": True, "made_at": timezone.now()}
    for tab in ("coefficients", "accuracy", "tests"):
        context |= _DETAILS[tab](report)
    return context | overview(project, report, asked, reader) | {"divided": ()}


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
