"""What the figures of paper 001 have in common: discussions, and how they are told apart."""

from collections.abc import Sequence

import numpy as np

from apps.agreement.papers.answers import Answers, Said, ballots
from apps.agreement.papers.asked import Asked, tables_of_annotators
from apps.agreement.papers.counting import Bools
from apps.agreement.papers.setups import Setup, discussion
from apps.llm.models import ModelSpec
from labelhub.core.agreement.resampling import Ints
from labelhub.core.debate.ballots import tally
from labelhub.core.debate.seats import role_of
from labelhub.core.schema import Task

VOTABLE = tuple(task for task in Task if task is not Task.TEXT)
CARRIED = (
    "Who has agreed stands by the label of that round: an item that is settled counts as it was "
    "settled in all later rounds."
)


def setups(asked: Asked) -> list[Setup]:
    """A discussion by each group of models."""
    return [discussion(models, asked.rounds) for models in tables_of_annotators(asked)]


def names_of(setup: Setup) -> str:
    """The models that discuss."""
    return " + ".join(model.name for model in setup.models.values())


def model_at(setup: Setup, letter: str) -> ModelSpec:
    """Who sits on a seat."""
    return setup.models[role_of(letter)]


def seat_names(setup: Setup, letters: Sequence[str]) -> dict[str, str]:
    """Letter → the model's name, with its seat where a model has several."""
    names = [model_at(setup, letter).name for letter in letters]
    return {
        letter: name if names.count(name) == 1 else f"{name} ({letter})"
        for letter, name in zip(letters, names, strict=True)
    }


def majority(answers: Answers, said: Said, number: int) -> Ints:
    """What most stood by after round ``number``, debate by debate; a tie is no answer."""
    codes = answers.codes
    return codes.all_of(
        tally(given, answers.schema).value if given else None for given in ballots(said, number)
    )


def right(answers: Answers, said: Said, opinions: Ints) -> Bools:
    """Whether each debate's opinion is what gold says."""
    return np.asarray(opinions == answers.gold[said.rows])


def round_name(number: int) -> str:
    """As the paper's figures name it."""
    return f"R{number}" if number else "Initial"
