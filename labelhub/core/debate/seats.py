"""Annotators that sit at one table, each with a model of its own: A, B, C …

Debates and prompts know them by their letters alone: which model sits where would be an argument.
"""

from collections.abc import Callable, Mapping
from typing import Any

from labelhub.core.debate.info import Part, Settings
from labelhub.core.debate.settings import Setting

LETTERS = "ABCDEFGHI"

ANNOTATORS = Setting(
    name="annotators",
    title="Annotators",
    help="How many take part; each may have a model of its own.",
    default=3,
    low=2,
    high=len(LETTERS),
    main=True,
)


def seats(settings: Mapping[str, Any]) -> str:
    """The letters of the annotators that take part."""
    return LETTERS[: settings[ANNOTATORS.name]]


def role_of(letter: str) -> str:
    """The role of the annotator called ``letter``: ``annotator_b`` for B."""
    return f"annotator_{letter.lower()}"


def seated(protocol: str) -> Callable[[Settings], tuple[Part, ...]]:
    """Parts of annotators at one table, who share a prompt."""
    prompt = f"{protocol}/annotator"
    return lambda settings: tuple(Part(role_of(letter), prompt) for letter in seats(settings))
