"""What learning is told as, to REST and the command alike."""

from collections.abc import Iterable
from typing import Any

from apps.learning.models import Score, TrainedModel
from apps.learning.selectors import Standing
from apps.learning.wording import quality_words, saving_words


def report(standing: Standing) -> dict[str, Any]:
    """JSON-ready: the switch, what is missing, the newest measured model, what is on its way."""
    return {
        "on": standing.on,
        "decided": standing.decided,
        "missing": standing.missing,
        "next_at": standing.next_at if standing.on else None,
        "training": _progress(standing.going),
        "failed": standing.failed.message if standing.failed else "",
        "model": _model(standing.measured),
    }


def suspect_rows(scores: Iterable[Score]) -> list[dict[str, Any]]:
    """Decisions that are probably wrong."""
    return [
        {
            "item": score.item_id,
            "external_id": score.item.external_id,
            "text": score.item.text,
            "gold": score.gold.value if score.gold else None,
            "model": score.value,
            "probability": score.probability,
            "gold_probability": score.gold_probability,
            "suspicion": score.suspicion,
            "version": score.model.version,
        }
        for score in scores
    ]


def _progress(model: TrainedModel | None) -> dict[str, Any] | None:
    if model is None:
        return None
    return {
        "version": model.version,
        "status": model.status,
        "step": model.step,
        "share": model.share,
        "labelled": model.applied,
    }


def _model(model: TrainedModel | None) -> dict[str, Any] | None:
    if model is None:
        return None
    quality, curve = model.quality or {}, model.curve or {}
    return {
        "version": model.version,
        "status": model.status,
        "schema_version": model.schema.version,
        "examples": model.examples,
        "left_out": model.left_out,
        "labelled": model.applied,
        "labels_written": model.written,
        "llm_is_offline": model.offline,
        "created_at": model.created_at,
        "finished_at": model.finished_at,
        "quality": quality,
        "quality_in_words": quality_words(quality),
        "simulation": curve,
        "simulation_in_words": saving_words(curve),
    }
