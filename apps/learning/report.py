"""The state of learning for page, REST and command. A sentence claims only what its interval
shows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from apps.common.charts import Axis, Chart, Line, Mark, Rule, axis_floor, number_tick, share_tick
from apps.common.figures import count_words, share_words
from apps.learning.models import Score, TrainedModel
from apps.learning.selectors import LearningState
from apps.projects.models import Item, Project
from labelhub.core.learning.lessons import LEAST_GOLD, LEAST_SIMULATED

#: The target, as a share of the way from the first to the last accuracy.
DECISIVE = 0.9


def decisive_target(curve: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next(
        (target for target in curve.get("targets", ()) if target["share"] == DECISIVE), None
    )


def saving_words(curve: Mapping[str, Any]) -> str:
    """The result of the simulation in one or two sentences."""
    if curve.get("reason"):
        words = gettext("No simulation: it needs %(n)s different texts with gold.")
        return words % {"n": LEAST_SIMULATED}
    if curve.get("verdict") == "nothing":
        return gettext(
            "With all labels the accuracy is hardly better than with the first %(n)s: there is "
            "nothing for an order to save."
        ) % {"n": LEAST_GOLD}
    target = decisive_target(curve)
    if target is None:
        return gettext("No simulation yet.")
    saved = target["saved"]
    values = {
        "accuracy": share_words(target["accuracy"]),
        "labels": _whole(target["learned"]["value"]),
        "random": _whole(target["random"]["value"]),
        "saved": _whole(abs(saved["value"])),
        "low": _whole(saved["low"]),
        "high": _whole(saved["high"]),
    }
    match curve["verdict"]:
        case "saves":
            words = gettext(
                "The model's order saves labels here: an accuracy of %(accuracy)s took %(labels)s "
                "labels instead of %(random)s, %(saved)s fewer (95 %% interval %(low)s to "
                "%(high)s)."
            )
        case "costs":
            words = gettext(
                "The model's order costs labels here: an accuracy of %(accuracy)s took %(labels)s "
                "labels instead of %(random)s, %(saved)s more (95 %% interval %(low)s to %(high)s "
                "saved). Random order is better."
            )
        case _:
            words = gettext(
                "The saving is not significant: an accuracy of %(accuracy)s took %(labels)s labels "
                "instead of %(random)s (95 %% interval %(low)s to %(high)s labels saved)."
            )
    return words % values


def quality_words(quality: Mapping[str, Any]) -> str:
    """A sentence that compares the model with guessing and with the debates."""
    model, guess = quality["accuracy"], quality["majority"]["accuracy"]
    if model["low"] > guess["value"]:
        words = gettext("It is better than always giving the most frequent answer.")
        return " ".join([words, *_llm_comparison(quality)])
    if model["high"] < guess["value"]:
        return gettext(
            "It is worse than always giving the most frequent answer: do not rely on it."
        )
    return gettext(
        "It is not significantly better than always giving the most frequent answer. Do not rely "
        "on it: its uncertainty and its list of probable errors are mostly its own mistakes."
    )


def _llm_comparison(quality: Mapping[str, Any]) -> list[str]:
    """A sentence that compares the model with the debates, if both answered some items."""
    llm = quality.get("llm") or {"n": 0}
    if not llm["n"]:
        return []
    ours, theirs = llm["model_accuracy"], llm["accuracy"]
    if theirs["low"] > ours["high"]:
        words = gettext(
            "The debates are right more often (%(debates)s against %(model)s on the same items)."
        )
    elif ours["low"] > theirs["high"]:
        words = gettext(
            "The debates are right less often (%(debates)s against %(model)s on the same items)."
        )
    else:
        words = gettext(
            "The difference to the debates is not significant (%(debates)s against %(model)s on "
            "the same items)."
        )
    return [words % {"debates": share_words(theirs["value"]), "model": share_words(ours["value"])}]


def _whole(number: float) -> str:
    return count_words(round(number))


#: Way → its name and its colour.
WAYS = {
    "learned": (gettext_noop("least certain first"), "accent"),
    "random": (gettext_noop("random order"), "other"),
}


def learning_curves(curve: Mapping[str, Any]) -> Chart | None:
    """Accuracy by number of training labels, as simulated; None without a simulation."""
    points = curve.get("points")
    if not points:
        return None
    ends = [point[way][end] for point in points for way in WAYS for end in ("low", "high")]
    low = axis_floor(ends)
    marks: list[Mark] = []
    if target := decisive_target(curve):
        name = gettext("target %(accuracy)s") % {
            "accuracy": share_tick(round(target["accuracy"], 2))
        }
        marks.append(Rule(y=target["accuracy"], name=name))
    marks += [
        Line(
            points=[(point["labels"], point[way]["value"]) for point in points],
            band=[(point["labels"], point[way]["low"], point[way]["high"]) for point in points],
            kind=colour,
            dash=int(way == "random"),
            name=gettext(name),
        )
        for way, (name, colour) in WAYS.items()
    ]
    return Chart(
        key="learning-curves",
        title=gettext("Accuracy by number of training labels"),
        description=gettext(
            "Two curves from %(first)s to %(last)s labels, each the mean of %(n)s random divisions "
            "with its 95 %% interval: labels in random order, and the least certain first."
        )
        % {
            "first": count_words(points[0]["labels"]),
            "last": count_words(points[-1]["labels"]),
            "n": count_words(curve["divisions"]),
        },
        rows=[
            {
                "labels": point["labels"],
                gettext_noop("order"): name,
                **{end: point[way][end] for end in _FIGURE},
            }
            for point in points
            for way, (name, _) in WAYS.items()
        ],
        shares=_FIGURE,
        x=Axis(
            title=gettext("training labels"),
            low=points[0]["labels"],
            high=points[-1]["labels"],
            words=number_tick,
        ),
        y=Axis(
            title=gettext("accuracy on held-out gold"),
            low=low,
            high=min(1.0, max(*ends, low + 0.1)),
        ),
        marks=marks,
        height=190,
    )


_FIGURE = ("value", "low", "high")


#: Status of a training → what a person reads; while it learns, its step, stored in English.
_STEPS = {
    TrainedModel.Status.QUEUED: gettext_noop("waiting for the worker"),
    TrainedModel.Status.APPLYING: gettext_noop("labelling undecided items"),
}
_TOLD = (
    gettext_noop("Reading the texts"),
    gettext_noop("Measuring"),
    gettext_noop("Cross-validating"),
    gettext_noop("Simulating what its order saves"),
)
# Why a figure has no value, in the core's words, which the figure's component translates.
_REASONS = (
    gettext_noop("there is nothing to count"),
    gettext_noop("no item has or is given this label"),
    gettext_noop("it is never given"),
    gettext_noop("gold does not have it"),
)
#: Below this share the remaining time cannot be estimated.
TOLD_FROM = 0.03


@dataclass(frozen=True, slots=True)
class Row:
    """Accuracy and macro F1 of one annotator."""

    name: str
    kind: str
    accuracy: dict[str, Any]
    macro_f1: dict[str, Any]
    note: str = ""
    offline: bool = False


def page_context(state: LearningState) -> dict[str, Any]:
    """The context of the page without the list of probable errors."""
    model = state.measured
    context: dict[str, Any] = {"state": state, "model": model}
    if model is None:
        return context
    quality, curve = model.quality or {}, model.curve or {}
    return context | {
        "rows": rows_of(model),
        "quality_words": quality_words(quality),
        "better": quality["accuracy"]["low"] > quality["majority"]["accuracy"]["value"],
        "saving_words": saving_words(curve),
        "picture": learning_curves(curve),
        "curve": curve,
        "outdated": state.decided > model.decided,
    }


def rows_of(model: TrainedModel) -> list[Row]:
    """The model, the debates and the most frequent answer, on the same gold."""
    quality = model.quality or {}
    rows = [Row("", "model", quality["accuracy"], quality["macro_f1"])]
    llm = quality.get("llm") or {"n": 0}
    if llm["n"]:
        part = llm["n"] < quality["n"]
        if part:
            same = (llm["model_accuracy"], llm["model_macro_f1"])
            rows.append(Row("", "model", *same, note=gettext("on items that debates labelled")))
        rows.append(Row("", "llm", llm["accuracy"], llm["macro_f1"], offline=model.offline))
    guess = quality["majority"]
    rows.append(
        Row(gettext("Always the most frequent answer"), "", guess["accuracy"], guess["macro_f1"])
    )
    return rows


def progress_context(project: Project, going: TrainedModel) -> dict[str, Any]:
    """The progress in per cent, and the seconds left where they can be estimated."""
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
    step = _STEPS.get(TrainedModel.Status(going.status)) or going.step or "Learning"
    return {
        "going": going,
        "step": gettext(step),
        "percent": round(100 * share),
        "seconds_left": left,
    }


def report(state: LearningState) -> dict[str, Any]:
    """JSON-ready: the switch, missing decisions, the newest measured model, the training."""
    return {
        "on": state.on,
        "decided": state.decided,
        "missing": state.missing,
        "next_at": state.next_at if state.on else None,
        "training": state.going
        and {
            "version": state.going.version,
            "status": state.going.status,
            "step": state.going.step,
            "share": state.going.share,
            "labelled": state.going.applied,
        },
        "failed": state.failed.message if state.failed else "",
        "model": _model(state.measured),
    }


def suspect_rows(scores: Iterable[Score]) -> list[dict[str, Any]]:
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
