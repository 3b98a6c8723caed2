"""Paper 000, table 2: each model alone on one interest, averaged over five passes."""

from collections.abc import Sequence

from apps.agreement.papers.answers import Answers
from apps.agreement.papers.asked import Asked, bare_models
from apps.agreement.papers.kinds import LABELLED, PaperTable
from apps.agreement.papers.layout import Table
from apps.agreement.papers.p000 import REPLICATES, table_of
from apps.agreement.papers.setups import Setup, by_one


def setups(asked: Asked) -> list[Setup]:
    """One call by each model."""
    return [by_one("single", model) for model in bare_models(asked)]


def rows(asked: Asked, files: Sequence[Answers]) -> Table:
    """A row for each model."""
    return table_of(asked, files, ["Model"], setups(asked))


TABLE = PaperTable(
    code="000.T2",
    title="Average performance metrics for a single agent/model on one interest",
    setups=setups,
    rows=rows,
    replicates=REPLICATES,
    one_label=True,
    tasks=LABELLED,
)
