"""Words for metrics, for what gold rests on, and for the arms of experiments."""

from collections.abc import Sequence

from django import template

from apps.agreement.experiments.naming import models_of, title_of
from apps.debates.models import Run, RunRole

register = template.Library()

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


@register.simple_tag
def share(value: float) -> str:
    """A share as whole per cent: ``80 %``."""
    return f"{value * 100:.0f} %"
