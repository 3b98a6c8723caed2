"""The safety floor below language models: nobody in danger is asked, whatever a model answers."""

from labelhub.core.safety.kinds import (
    DANGER,
    ORDINARY,
    kind_chances,
    names_danger,
    reacts_to_danger,
)

__all__ = ["DANGER", "ORDINARY", "kind_chances", "names_danger", "reacts_to_danger", "shows_danger"]

#: The chance from which the classifier alone drops a message. A lower one finds more people in
#: danger and drops more other messages; the figures are in ``tests/core/safety``.
LEAST_CHANCE = 0.5


def shows_danger(text: str) -> bool:
    """Whether a person's text shows that they or others are in danger, mourn or are dangerous.

    For texts of models use :func:`names_danger`, for an assistant's replies to somebody
    :func:`reacts_to_danger`.
    """
    return names_danger(text) or kind_chances(text)[DANGER] >= LEAST_CHANCE
