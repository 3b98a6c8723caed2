"""Where does it fail? Pages that compare predictions with gold."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.agreement.charts import Measured, interval_bars
from apps.agreement.evaluation import (
    Comparison,
    EvaluationReport,
    compare_with_gold,
    debates_by_item,
    evaluation_report,
    find_source,
    is_gold_uncertain_first,
    items_by_outcome,
    items_in_cell,
    items_in_matrix,
    labels_by_item,
    source_choices,
)
from apps.agreement.report.items import withheld_items
from apps.common.lists import requested_page
from apps.projects.models import Item, Project
from apps.projects.pages import project_page, project_view
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.scores import LabelScore
from labelhub.core.errors import InvalidInput

PAGE_SIZE = 15
SOURCE_PARAMETERS = {"run": "run_id", "annotator": "annotator_id", "replicate": "replicate"}
OUTCOME_WORDS = {
    "right": _("Predicted as gold says"),
    "wrong": _("Items with a mistake"),
    "unanswered": _("Without a usable answer"),
}
#: The figure of the verdict: of sets the exact match, else the accuracy.
HEADLINES = ("exact_match", "accuracy")
#: A matrix of more labels than this is shown on demand.
MOST_LABELS = 12
MOST_MISTAKES = 5
SIDES = ("yes", "no")
#: A row of a matrix: the ``name`` of what was predicted, and a cell for each value of gold. A cell
#: has the ``count`` of items, the ``level`` of its shade, 0 (empty) to 4 (all of its row),
#: ``right`` where both agree, ``words`` and the ``url`` of its items.
MatrixRow = Mapping[str, Any]


@project_view(Right.VIEW)
def evaluation(request: SignedInRequest, project: Project) -> HttpResponse:
    """Metrics per label with their intervals, beside the matrix; every cell leads to its items."""
    if "of" in request.GET:  # the choice of a source: to the address that means it
        chosen = _source_parameters(QueryDict(request.GET["of"]))
        return HttpResponseRedirect(f"{request.path}?{urlencode(chosen)}")
    report = evaluation_report(project, **_source_asked(request))
    headline = next(name for name in HEADLINES if name in report.evaluation.overall)
    items_url = reverse("evaluation_items", args=[project.slug])
    choices = source_choices(project)
    context = {
        **project_page(request, project, "evaluation"),
        "report": report,
        "compared": report.compared,
        "source": report.compared.source,
        "choices": choices,
        "several_sources": sum(map(len, choices.values())) > 1,
        "right": report.evaluation.overall[headline],
        "overall": [
            (name, shown) for name, shown in report.evaluation.overall.items() if name != headline
        ],
        "large": len(report.evaluation.labels) > MOST_LABELS,
        "biased": is_gold_uncertain_first(project),
        "drawn": draw_evaluation(report, items_url),
        "sides": (gettext("gold yes"), gettext("gold no")),
        "items_url": items_url,
        "source_query": _query(report.compared),
    }
    return render(request, "agreement/evaluation.html", context)


@project_view(Right.VIEW)
def evaluation_items(request: SignedInRequest, project: Project) -> HttpResponse:
    """The items behind one cell, with their predictions and debates."""
    compared = compare_with_gold(project, find_source(project, **_source_asked(request)))
    title, ids = _selected(request.GET, compared)
    items = Item.objects.filter(pk__in=ids).exclude(pk__in=withheld_items(project, request.user.pk))
    page = requested_page(request.GET, items.order_by("pk"), PAGE_SIZE)
    shown = [item.pk for item in page]
    labels = labels_by_item(compared, shown)
    debates = debates_by_item(compared.source, shown)
    name, rows = request.GET.get("label", ""), []
    for item in page:
        label = labels.get(item.pk)
        quotes: Mapping[str, Any] = label.evidence if label else {}
        rows.append(
            {
                "item": item,
                "label": label,
                # Only of the label that the page is about, where it is one.
                "evidence": {name: quotes[name]} if name in quotes else quotes,
                "gold": compared.gold[item.pk],
                "debate_id": debates.get(item.pk),
            }
        )
    context = {
        **project_page(request, project, "evaluation"),
        "title": title,
        "page": page,
        "rows": rows,
        "source": compared.source,
        "source_query": _query(compared),
    }
    return render(request, "agreement/evaluation_items.html", context)


def draw_evaluation(report: EvaluationReport, items_url: str) -> dict[str, Any]:
    """Everything drawn of a report.

    ``scores`` of each label by the names of the metrics, ``f1`` of all, a matrix of each label
    (``by_label``) or of all (``matrix``), the most common ``mistakes`` and the ``worst``, if it is
    more common than any other. Cells lead to ``items_url`` with the parameters that mean them.
    """
    found, source = report.evaluation, report.compared.source
    kind = source.kind if source else ""

    def address(**cell: str) -> str:
        return f"{items_url}?{urlencode({**(source.query if source else {}), **cell})}"

    by_label = [
        (score.label, _two_by_two(score, address))
        for score in (found.labels if found.matrix is None else ())
    ]
    matrix = _matrix(
        found.matrix or {},
        lambda predicted, gold: address(predicted=predicted, gold=gold),
        label_words,
    )
    wrong = [
        {**cell, "words": f"{name}{cell['words']}"}
        for name, rows in [*((f"{label}: ", rows) for label, rows in by_label), ("", matrix)]
        for row in rows
        for cell in row["cells"]
        if cell["count"] and not cell["right"]
    ]
    wrong.sort(key=lambda cell: -cell["count"])
    scores = [(score.label, _figures(score)) for score in found.labels]
    measured = [Measured(label, kind, {"": figures["f1"]}) for label, figures in scores]
    alone = len({cell["count"] for cell in wrong[:2]}) == len(wrong[:2])
    return {
        "scores": scores,
        "f1": interval_bars(
            measured, of=gettext("F1 of each label"), low=0.0, numbers=[""], key="scores"
        ),
        "by_label": by_label,
        "matrix": matrix,
        "mistakes": wrong[:MOST_MISTAKES],
        "worst": wrong[0] if wrong and alone else None,
    }


def _figures(score: LabelScore) -> dict[str, Figure]:
    """The n of F1 are the label's items in gold, as of its recall."""
    f1: Figure = {**score.f1, "n": int(score.counts.gold_yes)}
    figures = {"precision": score.precision, "recall": score.recall, "f1": f1}
    return figures | {"accuracy": score.accuracy}


def _two_by_two(score: LabelScore, address: Callable[..., str]) -> list[MatrixRow]:
    counts = score.counts.to_json()
    table = {
        predicted: {gold: int(counts[f"predicted_{predicted}_gold_{gold}"]) for gold in SIDES}
        for predicted in SIDES
    }
    rows = _matrix(
        table,
        lambda predicted, gold: address(label=score.label, cell=f"{predicted}-{gold}"),
        side_words,
    )
    names = {"yes": gettext("predicted yes"), "no": gettext("predicted no")}
    return [{**row, "name": names[row["name"]]} for row in rows]


def _matrix(
    table: Mapping[str, Mapping[str, int]],
    link: Callable[[str, str], str],
    say: Callable[[str, str], str],
) -> list[MatrixRow]:
    """Cells shaded by the share of their row in quarters, rounded up, as the stylesheet has it."""
    return [
        {
            "name": predicted,
            "cells": [
                {
                    "count": count,
                    "level": min(4, -(-4 * count // sum(row.values()))) if count else 0,
                    "right": predicted == gold,
                    "words": say(predicted, gold),
                    "url": link(predicted, gold),
                }
                for gold, count in row.items()
            ],
        }
        for predicted, row in table.items()
    ]


def side_words(predicted: str, gold: str) -> str:
    """``predicted yes, gold no``, of two of :data:`SIDES`."""
    return {
        "yes-yes": gettext("predicted yes, gold yes"),
        "yes-no": gettext("predicted yes, gold no"),
        "no-yes": gettext("predicted no, gold yes"),
        "no-no": gettext("predicted no, gold no"),
    }[f"{predicted}-{gold}"]


def label_words(predicted: str, gold: str) -> str:
    """``predicted Praise, gold Question``."""
    words = gettext("predicted %(predicted)s, gold %(gold)s")
    return words % {"predicted": predicted, "gold": gold}


def _query(compared: Comparison) -> str:
    return urlencode(compared.source.query) if compared.source else ""


def _selected(asked: Mapping[str, str], compared: Comparison) -> tuple[str, list[int]]:
    if outcome := asked.get("outcome"):
        return str(OUTCOME_WORDS.get(outcome, "")), items_by_outcome(compared, outcome)
    if cell := asked.get("cell"):
        label = asked.get("label", "")
        predicted, _, gold = cell.partition("-")
        ids = items_in_cell(compared, label=label, cell=cell)
        return f"{label}: {side_words(predicted, gold)}", ids
    predicted, gold = asked.get("predicted", ""), asked.get("gold", "")
    title = label_words(predicted[:100], gold[:100])
    return capfirst(title), items_in_matrix(compared, predicted=predicted, gold=gold)


def _source_asked(request: SignedInRequest) -> dict[str, Any]:
    asked = {
        SOURCE_PARAMETERS[name]: number for name, number in _source_parameters(request.GET).items()
    }
    return {"run_id": None, "annotator_id": None} | asked


def _source_parameters(given: Mapping[str, str]) -> dict[str, int]:
    """The parameters of a source that are there, as numbers."""
    numbers = {}
    for name in SOURCE_PARAMETERS:
        if raw := given.get(name):
            if not (raw.isascii() and raw.isdecimal()) or len(raw) > 18:
                raise InvalidInput(
                    "%(name)s: must be a number, not '%(raw)s'.", name=name, raw=raw[:40]
                )
            numbers[name] = int(raw)
    return numbers
