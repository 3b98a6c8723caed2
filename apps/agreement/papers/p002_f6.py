"""Paper 002, figure 6: how far parallel judges agree, on ambiguous and on normal items."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from apps.agreement.experiments.doubt import with_ends
from apps.agreement.papers import p002
from apps.agreement.papers.answers import Answers, Said
from apps.agreement.papers.asked import COURT_ROLES, Asked
from apps.agreement.papers.counting import Bools
from apps.agreement.papers.kinds import PaperTable, faults
from apps.agreement.papers.layout import HUNDREDTHS, PERCENT, Cell, Shown, Table
from apps.agreement.papers.strata import note_on, strata_of
from labelhub.core.agreement.coding import NOTHING
from labelhub.core.agreement.judges import agreement
from labelhub.core.agreement.resampling import Ints
from labelhub.core.schema import Task

PARTS = ("All", "Amb", "Nor")


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """A row for each file: agreement rates, then the same beyond chance."""
    notes = [
        (
            "Agreement rate: share of pairs of judges who give the same verdict, averaged over "
            "debates; κ: Fleiss' kappa of the same verdicts, which the paper does not give."
        ),
        note_on(asked.theta, max(2, asked.judges)),
        p002.settings_note(asked),
        *faults(files),
    ]
    columns = ["Data", *PARTS, *(f"κ {part}" for part in PARTS)]
    return Table(columns, [_row(asked, answers) for answers in files], notes)


def _row(asked: Asked, answers: Answers) -> list[Cell]:
    strata = strata_of(answers, answers.of(p002.counted(asked)), asked.theta)
    said = answers.of(p002.trial(asked, p002.PARALLEL))
    votes = votes_of(answers, said)
    everything: Bools = np.ones(answers.items, dtype=bool)
    fixed = answers.schema.task is not Task.PER_ITEM
    found = [
        agreement(
            answers.sample, said.rows[mask[said.rows]], votes[mask[said.rows]], same_options=fixed
        )
        for mask in (everything, strata.ambiguous, strata.normal)
    ]
    rates = [Shown(with_ends(each.percent), PERCENT) for each in found]
    return [answers.title, *rates, *(Shown(each.fleiss, HUNDREDTHS) for each in found)]


def votes_of(answers: Answers, said: Said) -> Ints:
    """Verdicts by category, shape (debates, categories); who gives none is no voter."""
    coded = [answers.codes.all_of(verdicts or ()) for verdicts in said.told["verdicts"]]
    votes = np.zeros((len(coded), max(1, len(answers.codes))), dtype=np.int64)
    for debate, verdicts in enumerate(coded):
        for verdict in verdicts[verdicts != NOTHING]:
            votes[debate, verdict] += 1
    return votes


TABLE = PaperTable(
    code="002.F6",
    title="Agreement rate of judges in the final response (parallel deliberation)",
    setups=partial(p002.agreement_setups, (p002.PARALLEL,)),
    rows=rows,
    roles=COURT_ROLES,
    tasks=p002.TASKS,
)
