"""What figures are called in front of people, and which of them are shares."""

from collections.abc import Mapping
from typing import Any

from apps.agreement.standing.wording import MAIN_WORDS

COEFFICIENT_WORDS = {
    "alpha_token_f1": "α by shared words",
    **MAIN_WORDS,
    "percent": "pairs that agree",
    "percent_with_abstentions": "pairs that agree, “not sure” an answer",
    "alpha_with_abstentions": "α, “not sure” an answer",
    "alpha_jaccard": "α by Jaccard",
    "alpha_interval": "interval α",
    "alpha_ratio": "ratio α",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2, quadratic",
    "brennan_prediger": "Brennan–Prediger",
    "fleiss_kappa": "Fleiss' κ",
    "conger_kappa": "Conger's κ",
    "icc_2_1": "ICC(2,1)",
    "icc_2_k": "ICC(2,k)",
    "token_f1": "shared words, F1",
}
#: Of a kind against a truth: who is right how often, by every way of reading an item's labels.
WAYS = {
    "accuracy": "single labels",
    "majority_accuracy": "most frequent answer",
    "dawid_skene_accuracy": "Dawid–Skene",
    "mace_accuracy": "MACE",
    "weighted_accuracy": "weighted vote",
    "median_accuracy": "median",
    "medoid_accuracy": "answer nearest to the others",
}
#: Of free texts these come first, as they stand in a picture: few texts are the same word for word.
TEXT_WAYS = {
    "token_f1": "shared words",
    "medoid_token_f1": "the nearest’s",
    "accuracy": "the very text",
}
#: All else that is measured against a truth; what is not here is called by its key.
MEASURES = {
    "cohen_kappa": "Cohen's κ of single labels",
    "majority_kappa": "κ of most frequent answers",
    "js_divergence": "divergence of how often each answer is given (Jensen–Shannon, bits)",
    "macro_precision": "precision, mean over labels",
    "macro_recall": "recall, mean over labels",
    "macro_f1": "F1, mean over labels",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "Matthews' correlation",
    "lift_over_guessing": "better than guessing by",
    "mean_absolute_error": "mean distance, in points",
    "root_mean_squared_error": "root mean squared distance, in points",
    "spearman": "Spearman's ρ",
    "quadratic_kappa": "quadratic κ",
    "median_mean_absolute_error": "mean distance of the median, in points",
    "median_root_mean_squared_error": "root mean squared distance of the median, in points",
    "median_spearman": "Spearman's ρ of the median",
    "median_quadratic_kappa": "quadratic κ of the median",
    "token_f1": "shared words, F1",
    "medoid_token_f1": "shared words of the answer nearest to the others, F1",
    "exact_match": "whole set right",
    "hamming_loss": "wrong decisions about a label (Hamming)",
    "label_majority_accuracy": "right decisions about a label, by majority",
    "label_dawid_skene_accuracy": "right decisions about a label, by Dawid–Skene",
    "micro_precision": "precision over all labels",
    "micro_recall": "recall over all labels",
    "micro_f1": "F1 over all labels",
}
_SHARES = (
    "percent",
    "percent_with_abstentions",
    "exact_match",
    "hamming_loss",
    "lift_over_guessing",
)


def measure_words(name: str) -> str:
    """A figure against a truth as people read it."""
    return WAYS.get(name) or MEASURES.get(name) or name.replace("_", " ")


def is_share(name: str) -> bool:
    """Whether a figure is a share of labels or items, shown as per cent."""
    return name in _SHARES or name.endswith("accuracy")


def is_figure(told: Any) -> bool:
    """Whether a value of a report is a figure, with a number or a reason for none."""
    return isinstance(told, Mapping) and "value" in told
