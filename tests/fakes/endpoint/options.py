"""How the fast endpoint behaves; everything here can be changed while it runs."""

import dataclasses
from dataclasses import dataclass
from typing import Any

ANSWERS = ("label", "obedient", "echo")


@dataclass(frozen=True, slots=True)
class Options:
    """Times in seconds; ``limited``, ``unavailable``, ``malformed`` are shares of the requests."""

    seed: str = "0"
    latency: float = 0.0
    jitter: float = 0.0
    #: 429 with Retry-After above this many in flight; 0: any number.
    capacity: int = 0
    retry_after: float = 1.0
    #: Requests a second, 429 with the exact retry-after-ms above it; 0: any number. ``burst`` many
    #: may come at once; 0: what comes in a tenth of a second.
    rate: float = 0.0
    burst: int = 0
    limited: float = 0.0
    unavailable: float = 0.0
    malformed: float = 0.0
    #: "label": a label drawn by the text; "obedient": what the text orders; "echo": what was said.
    answer: str = "label"
    #: Share of answers drawn by more than the text, so that debates have something to debate.
    disagree: float = 0.2
    usage: bool = True
    #: Fixed numbers for ``usage``; 0: by length.
    tokens_in: int = 0
    tokens_out: int = 0
    logprobs: bool = False
    #: Names that GET /v1/models lists, by commas; any name is answered.
    models: str = "fake-model"
    dimensions: int = 64

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.answer not in ANSWERS:
            raise ValueError(f"answer: '{self.answer}' is not one of {', '.join(ANSWERS)}")

    def changed(self, changes: dict[str, Any]) -> "Options":
        """With ``changes``; a name or a value that does not fit raises ValueError."""
        kinds: dict[str, Any] = {
            field.name: type(field.default) for field in dataclasses.fields(self)
        }
        unknown = sorted(set(changes) - set(kinds))
        if unknown:
            raise ValueError(f"unknown: {', '.join(unknown)}")
        fitting = {name: kinds[name](given) for name, given in changes.items()}
        return dataclasses.replace(self, **fitting)
