"""Paper 002, table 4: the same structures on ambiguous and on normal items."""

from collections.abc import Sequence
from dataclasses import replace

from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import COURT_ROLES, Asked
from apps.agreement.papers.counting import Bools, compared
from apps.agreement.papers.kinds import PaperTable, faults
from apps.agreement.papers.layout import HUNDREDTHS, Cell, Shown, Table
from apps.agreement.papers.p002 import (
    NAMES,
    PARALLEL,
    PARALLEL_NAME,
    SEQUENTIAL,
    SINGLE_NAME,
    TASKS,
    baseline,
    counted,
    settings_note,
    trial,
)
from apps.agreement.papers.setups import Setup
from apps.agreement.papers.strata import note_on, strata_of
from labelhub.core.agreement.arms import Tally
from labelhub.core.agreement.resampling import clustered_share

KINDS = ("Amb", "Nor")


def structures(asked: Asked) -> dict[str, Setup]:
    """Row → set-up; the first is the baseline."""
    return {
        SINGLE_NAME: baseline(asked),
        PARALLEL_NAME: counted(asked),
        **{NAMES[kind]: trial(asked, kind) for kind in (PARALLEL, SEQUENTIAL)},
    }


def setups(asked: Asked) -> list[Setup]:
    """The runs over each file."""
    return list(structures(asked).values())


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """Ratio, then a row for each structure, with two columns for each file."""
    columns = [_columns(asked, answers) for answers in files]
    names = ["Ratio", *structures(asked)]
    made: list[list[Cell]] = [
        [name, *(cell for pair in columns for cell in pair[name])] for name in names
    ]
    prefixes = [f"{answers.title} " if len(files) > 1 else "" for answers in files]
    heads = ["Structure", *(f"{prefix}{kind}" for prefix in prefixes for kind in KINDS)]
    notes = [
        note_on(asked.theta, max(2, asked.judges)),
        (
            "Parentheses: change from the single LLM on the same items; its interval, and p (of "
            "each comparison by itself) with the name of its test, are in --json."
        ),
        settings_note(asked),
        *faults(files),
    ]
    return Table(heads, made, notes)


def _columns(asked: Asked, answers: Answers) -> dict[str, list[Cell]]:
    strata = strata_of(answers, answers.of(counted(asked)), asked.theta)
    masks = (strata.ambiguous, strata.normal)
    base = answers.of(baseline(asked)).counts
    found: dict[str, list[Cell]] = {
        "Ratio": [Shown(strata.share_of(mask), HUNDREDTHS) for mask in masks]
    }
    for name, setup in structures(asked).items():
        counts = answers.of(setup).counts
        against = None if name == SINGLE_NAME else base
        found[name] = [
            _cell(answers, counts, against, (kind, mask))
            for kind, mask in zip(("ambiguous", "normal"), masks, strict=True)
        ]
    return found


def _cell(answers: Answers, counts: Tally, base: Tally | None, part: tuple[str, Bools]) -> Shown:
    kind, mask = part
    own = _only(counts, mask)
    found = clustered_share(answers.sample, own.right, own.passes, reason=f"no item is {kind}")
    if base is None:
        return Shown(found, HUNDREDTHS)
    against = compared(answers.sample, own, _only(base, mask))
    return Shown(found, HUNDREDTHS, change=against.difference, more=against.told)


def _only(counts: Tally, mask: Bools) -> Tally:
    """The answers about some of the items."""
    return replace(counts, passes=counts.passes * mask, right=counts.right * mask)


TABLE = PaperTable(
    code="002.T4",
    title="Ambiguous and normal data, and accuracy on each",
    setups=setups,
    rows=rows,
    roles=COURT_ROLES,
    tasks=TASKS,
)
