"""Paper 000, table 5: extractor, critic and judge by different models."""

from collections.abc import Sequence

from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import ECJ_ROLES, Asked, mixed_trios
from apps.agreement.papers.kinds import LABELLED, PaperTable
from apps.agreement.papers.layout import Table
from apps.agreement.papers.p000 import REPLICATES, TRIO, table_of, trio_setups
from apps.agreement.papers.setups import Setup

SHIFTED = (
    "In the paper's rows judged by gpt-4.1 the metrics stand one column too far left (accuracy is "
    "lost, precision under Accuracy, recall under Precision, F1 under Recall); here they do not."
)


def setups(asked: Asked) -> list[Setup]:
    """For each judge every extractor with every critic, in either order."""
    return trio_setups(mixed_trios(asked))


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """A row for each trio."""
    table = table_of(asked, files, TRIO, setups(asked))
    return Table(table.columns, table.rows, [*table.notes, SHIFTED])


TABLE = PaperTable(
    code="000.T5",
    title="Average ECJ hybrid approach performance metrics on one interest",
    setups=setups,
    rows=rows,
    replicates=REPLICATES,
    roles=ECJ_ROLES,
    one_label=True,
    tasks=LABELLED,
)
