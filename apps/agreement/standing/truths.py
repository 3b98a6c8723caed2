"""What is held to be true in a report: the author's own answer, else gold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labelhub.core.schema import TASKS

Report = Mapping[str, Any]
KIND_NAMES = {
    "llm": "the LLM",
    "crowd": "the crowd",
    "expert": "the experts",
    "author": "the author",
    "model": "the model",
}


@dataclass(frozen=True, slots=True)
class Truth:
    """``key`` is where the report has it; ``words`` stand after "right about".

    ``measure``: the figure that says how often, or of free texts how far, a kind is right.
    """

    key: str
    name: str
    words: str
    found: Mapping[str, Any]
    measure: str = "majority_accuracy"

    def figure(self, kind: str) -> Mapping[str, Any]:
        """How often a kind is right, of items where several labels make an answer; of free texts
        how many words they share with the truth."""
        told: Mapping[str, Any] = self.found[kind]
        shown: Mapping[str, Any] = told[self.measure]
        return shown

    @property
    def by(self) -> str:
        """What it is called in addresses and among the comparisons."""
        return self.key.removeprefix("against_")

    @property
    def independent(self) -> Sequence[str]:
        """The kinds that did not decide any of the truth themselves."""
        return [kind for kind in self.kinds if not self.found[kind]["own_decisions"]]

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds that can be measured by it."""
        return [kind for kind in self.found if self.figure(kind)["value"] is not None]


def truths_of(report: Report) -> list[Truth]:
    """The truths by which something can be measured, the author first."""
    measure = "token_f1" if TASKS[report["task"]].written else "majority_accuracy"
    named = [
        ("against_author", "the author", "what the author said"),
        ("against_gold", "gold", "what was decided"),
    ]
    found = [Truth(key, name, words, report[key], measure) for key, name, words in named]
    return [truth for truth in found if truth.kinds]


def short_name(report: Report, kind: str) -> str:
    """A kind as it stands in a picture."""
    if kind in ("llm", "model") and report["offline"].get(kind):
        return "No LLM"
    return {"llm": "LLM"}.get(kind, kind.capitalize())


def name_of(report: Report, kind: str) -> str:
    """A kind as it stands in a sentence; what is no LLM is never called one."""
    if kind in ("llm", "model") and report["offline"].get(kind):
        return "the offline text matcher (not an LLM)"
    return KIND_NAMES.get(kind, kind)
