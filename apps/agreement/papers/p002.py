"""What the tables of paper 002 (Courtroom-LLM) have in common."""

from collections.abc import Sequence

from apps.agreement.papers.asked import Asked
from apps.agreement.papers.setups import (
    Setup,
    alone,
    courtroom,
    parallel,
    shows_precedents,
)
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import Task

TASKS = (Task.SINGLE, Task.ORDINAL, Task.PER_ITEM)
PARALLEL, SEQUENTIAL = "parallel", "sequential"
SINGLE_NAME, PARALLEL_NAME = "Single-LLM", "Parallel N-LLM"
NAMES = {
    PARALLEL: "Courtroom (Parallel Judges)",
    SEQUENTIAL: "Courtroom (Sequential Judges)",
}
#: The paper's analyses are of one example and five decision makers.
ONE_SHOT = (1,)
NO_EXAMPLES = "a single annotator is not shown examples here"
ZERO_SHOT = (
    "Single answers are asked without examples (0-shot): precedents are shown to judges only."
)


def precedents_of(asked: Asked) -> int:
    """Of an analysis: the first number asked for, else one, as in the paper."""
    return (asked.precedents or ONE_SHOT)[0]


def counted(asked: Asked) -> Setup:
    """The single answers that tell ambiguous items."""
    return parallel(asked, precedents_of(asked))


def baseline(asked: Asked) -> Setup:
    """One single answer."""
    return alone(asked, precedents_of(asked))


def trial(asked: Asked, deliberation: str) -> Setup:
    """The courtroom of an analysis."""
    return courtroom(asked, deliberation, precedents_of(asked))


def agreement_setups(deliberations: Sequence[str], asked: Asked) -> list[Setup]:
    """Trials with judges who can agree, and the answers that tell ambiguous items.

    Raises:
        InvalidInput: there is only one judge.
    """
    if asked.judges < 2:
        raise InvalidInput("judges: one judge agrees with nobody; take 3 or 5.")
    return [counted(asked), *(trial(asked, each) for each in deliberations)]


def settings_note(asked: Asked) -> str:
    """How the trials were held."""
    shots = precedents_of(asked)
    held = f"{asked.judges} judges, {shots} precedent{'' if shots == 1 else 's'} for each label."
    return held if shows_precedents("vote") or not shots else f"{held} {ZERO_SHOT}"
