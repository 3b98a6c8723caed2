"""The same table is read the same in whatever form it was pasted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.audit import read_table
from labelhub.core.agreement.audit.printed import parse, unit

NAMES = ("model", "TP", "FP", "acc", "n")
NUMBERS = st.one_of(
    st.integers(0, 999).map(str),
    st.decimals(0, 100, places=1).map(lambda share: f"{share}%"),
    st.decimals(0, 1, places=3).map(str),
)
ROWS = st.lists(
    st.tuples(st.sampled_from(["alpha", "beta-2", "gamma"]), *[NUMBERS] * 4), min_size=1, max_size=5
)
Row = tuple[str, ...]

FORMS = {
    "commas": lambda rows: "\n".join(",".join(row) for row in rows),
    "tabs": lambda rows: "\n".join("\t".join(row) for row in rows),
    "semicolons": lambda rows: "\n".join(";".join(row) for row in rows),
    "markdown": lambda rows: "\n".join(
        [f"| {' | '.join(rows[0])} |", f"|{'---|' * len(rows[0])}"]
        + [f"| {' | '.join(row)} |" for row in rows[1:]]
    ),
    "JSON": lambda rows: json.dumps([dict(zip(rows[0], row, strict=True)) for row in rows[1:]]),
}


@pytest.mark.thorough
@pytest.mark.parametrize("form", FORMS)
@given(rows=ROWS)
def test_every_cell_stays_as_it_was_printed(form: str, rows: list[Row]) -> None:
    table = read_table(FORMS[form]([NAMES, *rows]))
    assert table.columns == NAMES
    assert [tuple(row[name] for name in NAMES) for row in table.rows] == rows


@given(st.integers(-(10**6), 10**6), st.integers(0, 4), st.booleans(), st.booleans())
def test_a_number_is_read_with_the_digits_it_was_printed_with(
    whole: int,
    digits: int,
    percent: bool,
    bold: bool,
) -> None:
    text = f"{whole / 10**digits:.{digits}f}"
    shown = text + "%" * percent
    found = parse(f"**{shown}**" if bold else shown)
    assert found is not None
    assert (found.value, found.digits, found.percent) == (float(text), digits, percent)
    assert found.tolerance > unit(digits)
