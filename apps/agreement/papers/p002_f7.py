"""Paper 002, figure 7: how far each judge in sequence agrees with the one before."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from apps.agreement.papers import p002
from apps.agreement.papers.answers import Answers, Said
from apps.agreement.papers.asked import COURT_ROLES, Asked
from apps.agreement.papers.counting import Bools, share_where
from apps.agreement.papers.kinds import PaperTable, faults
from apps.agreement.papers.layout import PERCENT, Cell, Shown, Table
from apps.agreement.papers.strata import note_on, strata_of
from labelhub.core.agreement.coding import NOTHING
from labelhub.core.agreement.figures import Figure

NO_PAIR = "no debate has both verdicts"


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """For each file a row for all, ambiguous and normal items; a column for each two judges."""
    pairs = range(1, asked.judges)
    made = [row for answers in files for row in _block(asked, answers, pairs)]
    notes = [
        (
            "Share of debates in which a judge gives the same verdict as the one before. Each "
            "judge reads the opinions of those before, so agreement rises by construction."
        ),
        note_on(asked.theta, max(2, asked.judges)),
        p002.settings_note(asked),
        *faults(files),
    ]
    return Table(["Data", "Type", *(f"{at}-{at + 1}" for at in pairs)], made, notes)


def _block(asked: Asked, answers: Answers, pairs: range) -> list[list[Cell]]:
    strata = strata_of(answers, answers.of(p002.counted(asked)), asked.theta)
    said = answers.of(p002.trial(asked, p002.SEQUENTIAL))
    parts = {
        "All": np.ones(answers.items, dtype=bool),
        "Amb": strata.ambiguous,
        "Nor": strata.normal,
    }
    return [
        [
            answers.title,
            name,
            *(Shown(_agreeing(answers, said, mask, at), PERCENT) for at in pairs),
        ]
        for name, mask in parts.items()
    ]


def _agreeing(answers: Answers, said: Said, mask: Bools, at: int) -> Figure:
    """Of judge ``at`` with the next one, on the items that ``mask`` says."""
    one, other = (
        answers.codes.all_of(_verdict(told, place) for told in said.told["verdicts"])
        for place in (at - 1, at)
    )
    kept = mask[said.rows] & (one != NOTHING) & (other != NOTHING)
    return share_where(answers.sample, said.rows[kept], (one == other)[kept], reason=NO_PAIR)


def _verdict(told: Sequence[str | None] | None, place: int) -> str | None:
    return told[place] if told and place < len(told) else None


TABLE = PaperTable(
    code="002.F7",
    title="Changes in agreement in the sequential judge deliberation method",
    setups=partial(p002.agreement_setups, (p002.SEQUENTIAL,)),
    rows=rows,
    roles=COURT_ROLES,
    tasks=p002.TASKS,
)
