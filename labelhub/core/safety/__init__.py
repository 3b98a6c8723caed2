"""The floor beneath language models: nobody in danger is asked, whatever a model says."""

from labelhub.core.safety.kinds import (
    DANGER,
    ORDINARY,
    kind_chances,
    names_danger,
    reacts_to_danger,
)

__all__ = ["DANGER", "ORDINARY", "kind_chances", "names_danger", "reacts_to_danger", "shows_danger"]

#: From this chance on the classifier alone drops a message. Lower finds more people in danger and
#: silences more who are not; the figures are in ``tests/core/safety``.
LEAST_CHANCE = 0.5


def shows_danger(text: str) -> bool:
    """Whether what somebody wrote shows that they or others are in danger, mourn or are dangerous.

    For the words of people; of what a model wrote ask :func:`names_danger`, and of what an
    assistant said to somebody :func:`reacts_to_danger`.
    """
    return names_danger(text) or kind_chances(text)[DANGER] >= LEAST_CHANCE
