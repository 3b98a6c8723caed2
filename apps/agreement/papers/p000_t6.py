"""Paper 000, table 6: one combination on all interests at once."""

from collections.abc import Sequence

from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import ECJ_ROLES, Asked, Trio, trios
from apps.agreement.papers.kinds import LABELLED, PaperTable, faults
from apps.agreement.papers.layout import Cell, Shown, Table
from apps.agreement.papers.p000 import REPLICATES, label_row, passes_of
from apps.agreement.papers.setups import Setup, ecj
from labelhub.core.errors import InvalidInput


def setups(asked: Asked) -> list[Setup]:
    """The one combination.

    Raises:
        InvalidInput: there are several.
    """
    found: list[Trio] = trios(asked)
    if not found and len(asked.models) in (1, 3):
        extractor, critic, judge = (list(asked.models) * 3)[:3]
        found = [(extractor, critic, judge)]
    if len(found) != 1:
        raise InvalidInput(
            "model: this table is of one combination: one --model for all roles, three for "
            "extractor, critic and judge, or --model extractor=A --model critic=B --model judge=C."
        )
    return [ecj(found[0])]


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """A row for each aspect."""
    (setup,) = setups(asked)
    several = len(files) > 1
    made: list[list[Cell]] = []
    for answers in files:
        for name in answers.schema.names:
            found = label_row(answers, answers.of(setup), name)
            cells = [Shown(found["accuracy"]), Shown(found["f1"])]
            made.append([*([answers.title] if several else []), name, *cells])
    names = " + ".join(model.name for model in setup.models.values())
    notes = [
        (
            f"E + C + J: {names}; all aspects asked in one debate; means over passes "
            f"({passes_of(asked)}), as in the paper."
        ),
        *faults(files),
    ]
    return Table([*(["File"] if several else []), "Aspect", "Accuracy", "F1 Score"], made, notes)


TABLE = PaperTable(
    code="000.T6",
    title="Average accuracy and F1 score for different aspects using one ECJ combination",
    setups=setups,
    rows=rows,
    replicates=REPLICATES,
    roles=ECJ_ROLES,
    tasks=LABELLED,
)
