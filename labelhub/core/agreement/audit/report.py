"""The audit of one table: every check over it, findings in the order of the rows."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from labelhub.core.agreement.audit.averages import (
    check_deltas,
    check_differences,
    check_means_of,
    check_row_means,
    check_run_means,
)
from labelhub.core.agreement.audit.bounds import check_accuracies, check_intervals, check_kappas
from labelhub.core.agreement.audit.claims import check_p, check_t
from labelhub.core.agreement.audit.columns import Grid, Known, read_grid, read_grids
from labelhub.core.agreement.audit.counts import check_counts, read_confusion
from labelhub.core.agreement.audit.distributions import check_tails
from labelhub.core.agreement.audit.findings import Audit, Finding
from labelhub.core.agreement.audit.orientation import UNDECIDABLE
from labelhub.core.agreement.audit.relations import (
    check_d_rates,
    check_f1,
    check_grim,
    check_increases,
    check_marks,
    check_mixtures,
    check_parts,
    check_ranges,
    check_rates,
)
from labelhub.core.agreement.audit.summaries import check_summaries
from labelhub.core.agreement.audit.tables import Table, table_of
from labelhub.core.errors import InvalidInput

CHECKS: tuple[Callable[[Grid], Iterator[Finding]], ...] = (
    check_marks,
    check_ranges,
    check_f1,
    check_grim,
    check_d_rates,
    check_rates,
    check_parts,
    check_increases,
    check_mixtures,
    check_row_means,
    check_run_means,
    check_differences,
    check_deltas,
    check_summaries,
    check_kappas,
    check_accuracies,
    check_intervals,
    check_tails,
    check_t,
    check_p,
)
MOST_ITEMS = 10**9


def audit(
    table: Table | Sequence[Mapping[str, object]],
    *,
    items: int | None = None,
    positives: int | None = None,
    calls: int | None = None,
    runs: Table | Sequence[Mapping[str, object]] | None = None,
) -> Audit:
    """What in a table does not follow from the rest of it.

    Args:
        table: from ``read_table``, or a list of rows (column name to cell, as printed).
        items: how many items every row is about, where known and not in a column.
        positives: how many of them are positive in truth.
        calls: how many calls a D-rate rests on.
        runs: the table of single runs this one averages; rows are matched by the words in them.

    Raises:
        InvalidInput: no table, too large a table, or a known number that cannot be.
    """
    for known in (items, positives, calls):
        _require_count(known)
    if items is not None and positives is not None and positives > items:
        raise InvalidInput("There cannot be more positives than items.")
    whole = table_of(table)
    of_runs = None if runs is None else read_grid(table_of(runs), Known())
    found: list[Finding] = []
    sides: list[str] = []
    tested: Counter[str] = Counter()
    for grid in read_grids(whole, Known(items, positives, calls)):
        news = list(_findings(grid, of_runs, sides))
        # What stands beside the groups of columns is looked at with each of them.
        found += [finding for finding in news if finding not in found]
        tested += grid.tested
    found.sort(key=lambda finding: finding.row.number if finding.row else 0)
    rows = len(whole.rows)
    return Audit(tuple(found), tuple(sides or [UNDECIDABLE] * rows), rows, dict(tested))


def _findings(grid: Grid, runs: Grid | None, sides: list[str]) -> Iterator[Finding]:
    """Of one grid; ``sides`` becomes those of the first one with confusion counts."""
    for check in CHECKS:
        yield from check(grid)
    confusion = read_confusion(grid)
    if confusion is not None:
        sides += [] if sides else [each.side for each in confusion.votes]
        yield from check_counts(confusion)
    if runs is not None:
        yield from check_means_of(grid, runs)


def _require_count(number: int | None) -> None:
    whole = isinstance(number, int) and not isinstance(number, bool)
    if number is not None and not (whole and 0 < number <= MOST_ITEMS):
        raise InvalidInput("Items, positives and calls are whole numbers from 1.")
