"""Paper 001, figure 2: accuracy of agents and framework, and their kappa, round by round."""

from collections.abc import Iterator, Sequence

import numpy as np

from apps.agreement.papers import p001
from apps.agreement.papers.answers import Answers, Said, letters_of, standing
from apps.agreement.papers.asked import Asked
from apps.agreement.papers.counting import Bools, share_where
from apps.agreement.papers.kinds import PaperTable, faults
from apps.agreement.papers.layout import HUNDREDTHS, POINTS, Cell, Shown, Table
from apps.agreement.papers.setups import Setup
from labelhub.core.agreement.arms import NO_ANSWER_YET
from labelhub.core.agreement.coding import NOTHING
from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.judges import agreement
from labelhub.core.agreement.resampling import Ints
from labelhub.core.schema import Task

FRAMEWORK, KAPPA = "Discussion framework", "Fleiss' kappa"


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """For each group and file a row for each agent, for the framework, and for their agreement."""
    rounds = range(asked.rounds + 1)
    made = [
        row
        for setup in p001.setups(asked)
        for answers in files
        for row in _block(answers, setup, rounds)
    ]
    notes = [
        "Accuracy in percent, round by round; the framework's is that of the majority.",
        p001.CARRIED,
        (
            "Kappa that rises shows that annotators follow each other; whether they are right the "
            "accuracy says."
        ),
        *faults(files),
    ]
    columns = ["File", "Models", "Agent", *(p001.round_name(number) for number in rounds)]
    return Table(columns, made, notes)


def _block(answers: Answers, setup: Setup, rounds: range) -> Iterator[list[Cell]]:
    said, names = answers.of(setup), p001.names_of(setup)
    head = [answers.title, names]
    letters = letters_of(said)
    for letter, name in p001.seat_names(setup, letters).items():
        stood = [standing(said, answers.codes, letter, number) for number in rounds]
        yield [*head, name, *(_accuracy(answers, said, each) for each in stood)]
    framework = [p001.majority(answers, said, number) for number in rounds]
    yield [*head, FRAMEWORK, *(_accuracy(answers, said, each) for each in framework)]
    kappas = [_kappa(answers, said, letters, number) for number in rounds]
    yield [*head, KAPPA, *(Shown(each, HUNDREDTHS) for each in kappas)]


def _accuracy(answers: Answers, said: Said, opinions: Ints) -> Shown:
    hit: Bools = p001.right(answers, said, opinions)
    return Shown(share_where(answers.sample, said.rows, hit, reason=NO_ANSWER_YET), POINTS)


def _kappa(answers: Answers, said: Said, letters: Sequence[str], number: int) -> Figure:
    stood = [standing(said, answers.codes, letter, number) for letter in letters]
    votes = np.zeros((len(said.rows), max(1, len(answers.codes))), dtype=np.int64)
    for opinions in stood:
        kept = opinions != NOTHING
        np.add.at(votes, (np.nonzero(kept)[0], opinions[kept]), 1)
    fixed = answers.schema.task is not Task.PER_ITEM
    return agreement(answers.sample, said.rows, votes, same_options=fixed).fleiss


TABLE = PaperTable(
    code="001.F2",
    title="Accuracy and agreement through multi-agent discussion",
    setups=p001.setups,
    rows=rows,
    tasks=p001.VOTABLE,
)
