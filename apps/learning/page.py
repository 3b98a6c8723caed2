"""What the page of learning shows."""

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from apps.learning.charts import learning_curves
from apps.learning.models import TrainedModel
from apps.learning.selectors import Standing
from apps.learning.wording import is_better, quality_words, saving_words
from apps.projects.models import Item, Project

#: Before this share is done nobody can tell how long the rest takes.
TOLD_FROM = 0.03


@dataclass(frozen=True, slots=True)
class Row:
    """Accuracy and macro F1 of one party."""

    name: str
    kind: str
    accuracy: dict[str, Any]
    macro_f1: dict[str, Any]
    note: str = ""
    offline: bool = False


def standing_context(standing: Standing) -> dict[str, Any]:
    """The page's parts beside the list of probable errors."""
    model = standing.measured
    context: dict[str, Any] = {"standing": standing, "model": model}
    if model is None:
        return context
    quality, curve = model.quality or {}, model.curve or {}
    return context | {
        "rows": rows_of(model),
        "quality_words": quality_words(quality),
        "better": is_better(quality),
        "saving_words": saving_words(curve),
        "picture": learning_curves(curve),
        "curve": curve,
        "outdated": standing.decided > model.decided,
    }


def rows_of(model: TrainedModel) -> list[Row]:
    """The model beside whoever could have answered instead, on the same gold."""
    quality = model.quality or {}
    rows = [Row("", "model", quality["accuracy"], quality["macro_f1"])]
    llm = quality.get("llm") or {"n": 0}
    if llm["n"]:
        part = llm["n"] < quality["n"]
        if part:
            same = (llm["model_accuracy"], llm["model_macro_f1"])
            rows.append(Row("", "model", *same, note="on what debates labelled"))
        rows.append(Row("", "llm", llm["accuracy"], llm["macro_f1"], offline=model.offline))
    guess = quality["majority"]
    rows.append(Row("Always the most frequent answer", "", guess["accuracy"], guess["macro_f1"]))
    return rows


def progress_context(project: Project, going: TrainedModel) -> dict[str, Any]:
    """How far it is, in per cent, and the seconds that are left as far as that can be told."""
    if going.status == TrainedModel.Status.APPLYING:
        items = Item.objects.filter(project=project)
        total = items.count()
        share = items.filter(pk__lte=going.applied_to).count() / total if total else 1.0
    else:
        share = going.share
    left = None
    if going.phase_at and TOLD_FROM < share < 1:
        elapsed = (timezone.now() - going.phase_at).total_seconds()
        left = elapsed * (1 - share) / share
    return {"going": going, "percent": round(100 * share), "seconds_left": left}
