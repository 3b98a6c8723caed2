"""Paper 002, table 3: accuracy of single, parallel and courtroom by the number of precedents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import COURT_ROLES, Asked
from apps.agreement.papers.counting import accuracy
from apps.agreement.papers.kinds import PaperTable, faults
from apps.agreement.papers.layout import FRACTION, Cell, Shown, Table
from apps.agreement.papers.p002 import (
    NAMES,
    NO_EXAMPLES,
    PARALLEL,
    PARALLEL_NAME,
    SEQUENTIAL,
    TASKS,
    ZERO_SHOT,
)
from apps.agreement.papers.setups import Setup, alone, courtroom, parallel, shows_precedents
from labelhub.core.agreement.figures import undefined

SHOTS = (0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class _Structure:
    """A row: its names, how many decide, its set-up for each number of precedents."""

    llm: str
    name: str
    makers: int
    setups: Sequence[Setup | None]


def shots_of(asked: Asked) -> Sequence[int]:
    """The numbers of precedents that have a column."""
    return asked.precedents or SHOTS


def structures(asked: Asked) -> Iterator[_Structure]:
    """The rows of one file."""
    shots, judges = shots_of(asked), asked.judges
    plain = [alone(asked, n) if not n or shows_precedents("single") else None for n in shots]
    yield _Structure("single", "", 1, plain)
    if judges > 1:
        votes = [parallel(asked, n) if not n or shows_precedents("vote") else None for n in shots]
        yield _Structure("multi", PARALLEL_NAME, judges, votes)
    for kind in (PARALLEL, SEQUENTIAL):
        trials = [courtroom(asked, kind, n) for n in shots]
        yield _Structure("multi", NAMES[kind], judges, trials)


def setups(asked: Asked) -> list[Setup]:
    """Each structure with each number of precedents, where it can be shown any."""
    return [setup for each in structures(asked) for setup in each.setups if setup is not None]


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """A row for each file and structure."""
    made = [_row(answers, each) for answers in files for each in structures(asked)]
    shots = shots_of(asked)
    examples = not any(shots) or shows_precedents("single")
    notes = [
        "Accuracy; columns 0, 1, … are precedents for each label (few-shot).",
        *([] if examples else [ZERO_SHOT]),
        *faults(files),
    ]
    columns = ["Task", "LLM", "Structure", "# of decision maker", *(str(n) for n in shots)]
    return Table(columns, made, notes)


def _row(answers: Answers, each: _Structure) -> list[Cell]:
    return [
        answers.title,
        each.llm,
        each.name,
        str(each.makers),
        *(_cell(answers, setup) for setup in each.setups),
    ]


def _cell(answers: Answers, setup: Setup | None) -> Shown:
    if setup is None:
        return Shown(undefined(NO_EXAMPLES), FRACTION)
    return Shown(accuracy(answers.sample, answers.of(setup).counts), FRACTION)


TABLE = PaperTable(
    code="002.T3",
    title="Accuracy of the Courtroom-LLM framework by few-shot size",
    setups=setups,
    rows=rows,
    roles=COURT_ROLES,
    tasks=TASKS,
)
