"""Words for metrics and for what gold rests on."""

from django import template

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
