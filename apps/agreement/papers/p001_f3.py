"""Paper 001, figure 3: majority vote of the initial labels, discussion, and its upper bound."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from apps.agreement.papers import p001
from apps.agreement.papers.answers import Answers, letters_of, standing
from apps.agreement.papers.asked import Asked
from apps.agreement.papers.counting import Compared, accuracy, compared, tally_of, tests_of
from apps.agreement.papers.kinds import PaperTable, faults, many
from apps.agreement.papers.layout import POINTS, Cell, Shown, Table
from apps.agreement.papers.setups import Setup
from labelhub.core.agreement.arms import Tally
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.significance import LEVEL

VOTE, DISCUSSION, BOUND = "CoT MV", "Discussion", "Upper bound"
GAIN, GAP = "Discussion - CoT MV", "Δ (upper bound - discussion)"


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """For each group of models five rows, with a column for each file."""
    blocks = [
        (p001.names_of(setup), [_measured(answers, setup) for answers in files])
        for setup in p001.setups(asked)
    ]
    gains = [each.gain for _, block in blocks for each in block]
    adjusted = iter(holm([each.p for each in gains]))
    made = [row for names, block in blocks for row in _block(names, block, adjusted)]
    notes = [
        (
            "Percent right. Upper bound: some agent's initial label is right (an agent that "
            "finds the right label only while discussing may pass it)."
        ),
        (
            f"* the discussion differs from the vote of its own initial labels: {tests_of(gains)}, "
            f"p < {LEVEL} after Holm's correction for {many(len(gains), 'comparison')}."
        ),
        *faults(files),
    ]
    return Table(["Models", "Method", *(answers.title for answers in files)], made, notes)


@dataclass(frozen=True, slots=True)
class _Measured:
    cells: Mapping[str, Shown]
    gain: Compared


def _measured(answers: Answers, setup: Setup) -> _Measured:
    said, sample = answers.of(setup), answers.sample
    initial = [standing(said, answers.codes, letter, 0) for letter in letters_of(said)]
    found = np.zeros(len(said.rows), dtype=bool)
    for opinions in initial:
        found |= p001.right(answers, said, opinions)
    masks = {
        VOTE: p001.right(answers, said, p001.majority(answers, said, 0)),
        DISCUSSION: p001.right(answers, said, said.said),
        BOUND: found,
    }
    counts: dict[str, Tally] = {
        name: tally_of(said.rows, mask, answers.items) for name, mask in masks.items()
    }
    cells = {name: Shown(accuracy(sample, each), POINTS) for name, each in counts.items()}
    gap = compared(sample, counts[BOUND], counts[DISCUSSION])
    gain = compared(sample, counts[DISCUSSION], counts[VOTE])
    return _Measured({**cells, GAP: Shown(gap.difference, POINTS)}, gain)


def _block(names: str, block: Sequence[_Measured], adjusted: Iterator[float]) -> list[list[Cell]]:
    gains = [_gain(each.gain, next(adjusted)) for each in block]
    made: list[list[Cell]] = [
        [names, name, *(each.cells[name] for each in block)]
        for name in (VOTE, DISCUSSION, BOUND, GAP)
    ]
    made.insert(2, [names, GAIN, *gains])
    return made


def _gain(gain: Compared, p_holm: float) -> Shown:
    told = gain.told | {"p_holm": p_holm}
    return Shown(gain.difference, POINTS, mark="*" if p_holm < LEVEL else "", more=told)


TABLE = PaperTable(
    code="001.F3",
    title="Multi-agent CoT majority vote, discussion framework and its upper bound",
    setups=p001.setups,
    rows=rows,
    tasks=p001.VOTABLE,
)
