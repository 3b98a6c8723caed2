"""The audit of one table: every check over it, findings in the order of the rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from labelhub.core.agreement.audit.averages import (
    check_deltas,
    check_differences,
    check_means_of,
    check_row_means,
    check_run_means,
)
from labelhub.core.agreement.audit.claims import check_p, check_t
from labelhub.core.agreement.audit.columns import Grid, Known, read_grid
from labelhub.core.agreement.audit.counts import check_counts, read_confusion
from labelhub.core.agreement.audit.findings import Audit, Finding
from labelhub.core.agreement.audit.orientation import UNDECIDABLE
from labelhub.core.agreement.audit.relations import (
    check_d_rates,
    check_f1,
    check_grim,
    check_increases,
    check_marks,
    check_mixtures,
    check_ranges,
    check_rates,
)
from labelhub.core.agreement.audit.tables import Table, table_of
from labelhub.core.errors import InvalidInput

CHECKS: tuple[Callable[[Grid], Iterator[Finding]], ...] = (
    check_marks,
    check_ranges,
    check_f1,
    check_grim,
    check_d_rates,
    check_rates,
    check_increases,
    check_mixtures,
    check_row_means,
    check_run_means,
    check_differences,
    check_deltas,
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
    grid = read_grid(table_of(table), Known(items, positives, calls))
    found = [finding for check in CHECKS for finding in check(grid)]
    confusion = read_confusion(grid)
    sides = [UNDECIDABLE] * len(grid.numbers)
    if confusion is not None:
        found += check_counts(confusion)
        sides = [each.side for each in confusion.votes]
    if runs is not None:
        found += check_means_of(grid, read_grid(table_of(runs), Known()))
    found.sort(key=lambda finding: finding.row.number if finding.row else 0)
    return Audit(tuple(found), tuple(sides), len(grid.numbers))


def _require_count(number: int | None) -> None:
    whole = isinstance(number, int) and not isinstance(number, bool)
    if number is not None and not (whole and 0 < number <= MOST_ITEMS):
        raise InvalidInput("Items, positives and calls are whole numbers from 1.")
