"""Experiments: several set-ups on the same verified items, compared honestly."""

from apps.agreement.experiments.readings import KIND_WORDS, WORTH, Reading
from apps.agreement.experiments.report import ArmReport, ExperimentReport, readings_of, report_of

__all__ = [
    "KIND_WORDS",
    "WORTH",
    "ArmReport",
    "ExperimentReport",
    "Reading",
    "readings_of",
    "report_of",
]
