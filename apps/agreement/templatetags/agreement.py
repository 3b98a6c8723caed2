"""Words for metrics, for what gold rests on, and for the arms of experiments."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import template

from apps.agreement.experiments.naming import models_of, title_of
from apps.common.figures import duration, money
from apps.debates.models import Run, RunRole
from labelhub.core.agreement.figures import Figure, undefined

register = template.Library()

NANO = 1_000_000_000

METRICS = {
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "accuracy": "Accuracy",
    "exact_match": "Whole set right",
    "micro_precision": "Precision, all labels",
    "micro_recall": "Recall, all labels",
    "micro_f1": "F1, all labels",
    "macro_f1": "F1, mean over labels",
    "mean_absolute_error": "Mean distance",
}
WHY_NO_COST = {"not_recorded": "not recorded", "price_unknown": "the price is unknown"}
BASES = {
    "review": "decided by one reviewer",
    "agreement": "where reviewers agree",
    "adjudication": "decided by an expert",
    "author": "said by the author",
    "imported": "imported",
}


@register.filter
def metric_words(name: str) -> str:
    """A metric's key as people read it."""
    return METRICS.get(name, name.replace("_", " "))


@register.filter
def basis_words(basis: str) -> str:
    """What gold rests on, as it reads after a number."""
    return BASES.get(basis, basis)


@register.filter
def arm_title(run: Run) -> str:
    """What an arm of an experiment is called."""
    return title_of(run.protocol, run.protocol_settings)


@register.filter
def arm_models(roles: Sequence[RunRole]) -> str:
    """The models that play in it."""
    return models_of(roles)


@register.filter
def share_words(value: float) -> str:
    """A share as whole per cent: ``80 %``."""
    return f"{value * 100:.0f} %"


@register.filter
def usd(cost: Figure) -> str:
    """A mean cost with its interval, or why there is none."""
    return _mean_words(cost, lambda dollars: money(dollars * NANO))


@register.filter
def time_taken(seconds: Figure) -> str:
    """A mean time with its interval, or why there is none."""
    return _mean_words(seconds, duration)


@register.inclusion_tag("agreement/agreement_cell.html")
def truth_figure(figures: Mapping[str, Figure], name: str) -> dict[str, Any]:
    """A figure of a table, as per cent where it is a share; a dash with its reason where none."""
    shown = figures.get(name) or undefined("Does not apply here.")
    return {"shown": shown, "percent": name.endswith("accuracy")}


@register.simple_tag
def share(value: float) -> str:
    """A share as whole per cent: ``80 %``."""
    return f"{value * 100:.0f} %"


def _mean_words(shown: Figure, say: Callable[[float], str]) -> str:
    if shown["value"] is None:
        return WHY_NO_COST.get(shown["reason"], shown["reason"])
    low, high = shown.get("low"), shown.get("high")
    doubt = "" if low is None or high is None else f" ({say(low)} to {say(high)})"
    return f"{say(shown['value'])}{doubt}"
