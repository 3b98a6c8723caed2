"""What the selector hands on: the k features that matter most for one message."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Selected:
    """One of the k features that go downstream.

    Args:
        key: the feature's name for programs.
        name: its name for people.
        value: what its model predicts for the message; one of the feature's values, or a word.
        probability: how likely that value is right, 0 to 1 (one minus the uncertainty).
        relevance: what being right about it adds to the log-odds of success downstream.
    """

    key: str
    name: str
    value: str
    probability: float
    relevance: float
