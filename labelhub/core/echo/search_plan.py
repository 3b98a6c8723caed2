"""What a search for an instruction may cost, and what it tells in the end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from labelhub.core.echo.experiments.figures import Figure
from labelhub.core.echo.instructions import instruction_faults
from labelhub.core.echo.predicting import PredictPlan
from labelhub.core.echo.prompt_trials import trial_calls
from labelhub.core.errors import InvalidInput
from labelhub.core.prompts import Prompt

#: Chance of taking an instruction that is not better, over all that are tried.
LEVEL = 0.05
#: Below this nothing is tried. With eight challengers one must turn eight labels right and none
#: wrong to win: one label in five of forty, and few instructions do more.
LEAST_KEPT_BACK = 40
LEAST_AUTHORS = 20
#: Below this nobody can tell from them what to look at.
LEAST_SHOWN = 10
MOST_CANDIDATES, MOST_LABELS = 20, 400
#: What a search goes by unless it is told otherwise.
CANDIDATES, LABELS = 8, 120
#: Instructions asked for at once; each list is asked for with other messages.
AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """What a search may cost, and what it goes by.

    Args:
        instruct: the prompt of the role "instruct".
        predicting: how the feature is predicted, with the site's salt.
        present: the instruction in use; "" for none.
        candidates: instructions to ask for, 1 to 20.
        most_labels: kept-back labels that are used, 40 to 400.
        examples: shown in each prediction; of the shown side alone.
        tokens: of those examples together.
        params: what to ask of the model that writes instructions.

    Raises:
        InvalidInput: a number is out of bounds, or the present instruction has a fault.
    """

    instruct: Prompt
    predicting: PredictPlan
    present: str = ""
    candidates: int = CANDIDATES
    most_labels: int = LABELS
    examples: int = 4
    tokens: int = 800
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= MOST_CANDIDATES:
            raise InvalidInput.at("candidates", f"must be from 1 to {MOST_CANDIDATES}.")
        if not LEAST_KEPT_BACK <= self.most_labels <= MOST_LABELS:
            raise InvalidInput.at(
                "most_labels", f"must be from {LEAST_KEPT_BACK} to {MOST_LABELS}."
            )
        if self.present and (faults := instruction_faults(self.present)):
            raise InvalidInput.at("present", faults[0].detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What came of a search.

    Args:
        instruction: to be used from now on; the present one where it stays. "" is none.
        kept: whether the present instruction stays.
        why: as a code: "better", "not_better", "too_few_shown", "too_few_kept_back",
            "too_few_authors", "one_value", "no_candidate", "calls_failed".
        reason: the same in words.
        calls: that were made.
        labels: how many were shown and kept back, and of how many authors.
        chance: that the best would lead so by luck alone; None where nothing was tested.
        level: what ``chance`` had to be at most: 0.05 over the number tried.
        figures: "present", "best" and "difference", each with n and interval or a reason.
        candidates: each tried one with its accuracy, the best first, then those refused.
    """

    instruction: str
    kept: bool
    why: str
    reason: str
    calls: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)
    chance: float | None = None
    level: float | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    candidates: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        told = {name: dict(found[name]) for name in ("labels", "figures")}
        return {**found, **told, "candidates": [dict(each) for each in self.candidates]}


def most_calls(candidates: int = CANDIDATES, labels: int = LABELS, *, present: bool) -> int:
    """How many calls a search makes at most, whatever the labels and the replies; ``present``:
    whether an instruction is in use, so that none is tried too."""
    challengers = candidates + (1 if present else 0)
    return ceil(candidates / AT_ONCE) + trial_calls(challengers, labels)
