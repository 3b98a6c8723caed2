"""Paper 002, figure 8: what a trial does to the decision of the preliminary hearing."""

from collections.abc import Sequence

from apps.agreement.papers import p002
from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import COURT_ROLES, Asked
from apps.agreement.papers.counting import (
    Compared,
    compared,
    share_where,
    tally_of,
    tests_of,
)
from apps.agreement.papers.kinds import PaperTable, faults, many
from apps.agreement.papers.layout import PERCENT, Cell, Shown, Table
from apps.agreement.papers.setups import Setup
from labelhub.core.agreement.arms import NO_ANSWER_YET
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.significance import LEVEL

METHODS = (p002.PARALLEL, p002.SEQUENTIAL)


def setups(asked: Asked) -> list[Setup]:
    """Both kinds of trial."""
    return [p002.trial(asked, each) for each in METHODS]


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """A row for each file and kind of trial."""
    found = [(answers, kind) for answers in files for kind in METHODS]
    lines = [_line(answers, p002.trial(asked, kind)) for answers, kind in found]
    adjusted = holm([change.p for _, change in lines])
    made: list[list[Cell]] = [
        [answers.title, p002.NAMES[kind], *_cells(cells, change, p_holm)]
        for (answers, kind), (cells, change), p_holm in zip(found, lines, adjusted, strict=True)
    ]
    notes = [
        (
            "Shares of all debates. Changed: the verdict is not the hearing's first choice; w→c: "
            "from wrong to correct, c→w: from correct to wrong, w→w: from wrong to wrong."
        ),
        (
            f"* w→c and c→w differ: {tests_of(change for _, change in lines)}, p < {LEVEL} after "
            f"Holm's correction for {many(len(lines), 'comparison')}."
        ),
        p002.settings_note(asked),
        *faults(files),
    ]
    return Table(["Data", "Method", "Changed", "w→c", "c→w", "w→w"], made, notes)


def _line(answers: Answers, setup: Setup) -> tuple[list[Shown], Compared]:
    said = answers.of(setup)
    first = answers.codes.all_of(said.told["first"])
    gold = answers.gold[said.rows]
    before, after, changed = first == gold, said.said == gold, first != said.said
    masks = (changed, ~before & after, before & ~after, ~before & ~after & changed)
    cells = [
        Shown(share_where(answers.sample, said.rows, mask, reason=NO_ANSWER_YET), PERCENT)
        for mask in masks
    ]
    verdict, hearing = (tally_of(said.rows, right, answers.items) for right in (after, before))
    return cells, compared(answers.sample, verdict, hearing)


def _cells(cells: Sequence[Shown], change: Compared, p_holm: float) -> list[Shown]:
    changed, mended, *others = cells
    mark = "*" if p_holm < LEVEL else ""
    marked = Shown(mended.figure, PERCENT, mark=mark, more=change.told | {"p_holm": p_holm})
    return [changed, marked, *others]


TABLE = PaperTable(
    code="002.F8",
    title="Rate of decision changes in Courtroom-LLM",
    setups=setups,
    rows=rows,
    roles=COURT_ROLES,
    tasks=p002.TASKS,
)
