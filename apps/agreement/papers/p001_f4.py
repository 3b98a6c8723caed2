"""Paper 001, figure 4: who keeps and who changes labels in a discussion, and whether rightly."""

from collections.abc import Iterator, Sequence

import numpy as np

from apps.agreement.papers import p001
from apps.agreement.papers.answers import Answers, Said, ballots, letters_of, rounds_held, standing
from apps.agreement.papers.asked import Asked
from apps.agreement.papers.counting import Bools, number_where, share_where
from apps.agreement.papers.kinds import PaperTable, faults
from apps.agreement.papers.layout import COUNT, PERCENT, Cell, Shown, Style, Table
from apps.agreement.papers.setups import Setup
from labelhub.core.debate.ballots import tally

COLUMNS = ("✓", "✗", "✓→✓", "✓→✗", "✗→✓", "✗→✗", "Kept ✓", "Kept ✗")
WHOLE = Style(COUNT.scale, 0)
NOTHING: tuple[str, ...] = ("",) * len(COLUMNS)


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """For each agent a row for each round, then how the debates ended."""
    rounds = range(asked.rounds + 1)
    made = [
        row
        for setup in p001.setups(asked)
        for answers in files
        for row in _block(answers, setup, rounds)
    ]
    notes = [
        (
            "✓ and ✗: labels that gold agrees with or not, in counts of items that were still "
            "under discussion in that round (Initial: all); arrows: from the round before."
        ),
        "Kept ✓, Kept ✗: of labels that were right (wrong) the round before, those left unchanged.",
        "Consensus: all agents agree in some round; MV: they never do, and the majority decides.",
        *faults(files),
    ]
    return Table(["File", "Models", "Agent", "Stage", *COLUMNS], made, notes)


def _block(answers: Answers, setup: Setup, rounds: range) -> Iterator[list[Cell]]:
    said = answers.of(setup)
    head = [answers.title, p001.names_of(setup)]
    for letter, name in p001.seat_names(setup, letters_of(said)).items():
        for number in rounds:
            yield [*head, name, p001.round_name(number), *_agent(answers, said, letter, number)]
    agreed = _agreed(answers, said)
    right = p001.right(answers, said, said.said)
    for stage, mask in (("Consensus", agreed), ("MV", ~agreed)):
        numbers = [_number(answers, said, mask & each) for each in (right, ~right)]
        yield [*head, "all agents", stage, *numbers, *NOTHING[2:]]


def _agent(answers: Answers, said: Said, letter: str, number: int) -> list[Cell]:
    now = standing(said, answers.codes, letter, number)
    right = p001.right(answers, said, now)
    heard = rounds_held(said) >= number
    nodes: list[Cell] = [_number(answers, said, heard & each, heard) for each in (right, ~right)]
    if number == 0:
        return [*nodes, *NOTHING[2:]]
    before = standing(said, answers.codes, letter, number - 1)
    was = p001.right(answers, said, before)
    flows = (was & right, was & ~right, ~was & right, ~was & ~right)
    return [
        *nodes,
        *(_number(answers, said, heard & each, heard) for each in flows),
        *(_kept(answers, said, heard & each, before == now) for each in (was, ~was)),
    ]


def _number(answers: Answers, said: Said, hit: Bools, among: Bools | None = None) -> Shown:
    among = np.ones_like(hit) if among is None else among
    return Shown(number_where(answers.sample, said.rows[among], hit[among]), WHOLE)


def _kept(answers: Answers, said: Said, among: Bools, same: Bools) -> Shown:
    reason = "no such label was under discussion"
    return Shown(share_where(answers.sample, said.rows[among], same[among], reason=reason), PERCENT)


def _agreed(answers: Answers, said: Said) -> Bools:
    """Debates that ended in consensus: of all that have a last round, those unanimous in it."""
    last = int(rounds_held(said).max(initial=0))
    return np.array(
        [tally(given, answers.schema).unanimous for given in ballots(said, last)], dtype=bool
    )


TABLE = PaperTable(
    code="001.F4",
    title="Model behaviours within multi-agent discussion",
    setups=p001.setups,
    rows=rows,
    tasks=p001.VOTABLE,
)
