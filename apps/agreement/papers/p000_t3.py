"""Paper 000, table 3: extractor, critic and judge by the same model."""

from collections.abc import Sequence

from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import ECJ_ROLES, Asked, trios
from apps.agreement.papers.kinds import LABELLED, PaperTable
from apps.agreement.papers.layout import Table
from apps.agreement.papers.p000 import REPLICATES, TRIO, table_of, trio_setups
from apps.agreement.papers.setups import Setup


def setups(asked: Asked) -> list[Setup]:
    """Each bare model in all three roles; then what was put together by hand."""
    alone = [] if asked.by_role else [(model, model, model) for model in asked.models]
    return trio_setups([*alone, *trios(asked)])


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """A row for each trio."""
    return table_of(asked, files, TRIO, setups(asked))


TABLE = PaperTable(
    code="000.T3",
    title="Average ECJ single model approach performance metrics on one interest",
    setups=setups,
    rows=rows,
    replicates=REPLICATES,
    roles=ECJ_ROLES,
    one_label=True,
    tasks=LABELLED,
)
