"""Metrics from counts: the paper's own runs give the paper's own means; how cells are written."""

from collections.abc import Sequence

import numpy as np
import pytest

from apps.agreement.experiments.doubt import with_ends
from apps.agreement.papers.answers import Answers, Said
from apps.agreement.papers.counting import COUNTS, label_figures, mean_of
from apps.agreement.papers.layout import (
    COUNT,
    FRACTION,
    PERCENT,
    POINTS,
    Shown,
    Style,
    Table,
    csv_rows,
    text_lines,
    with_best,
)
from labelhub.core.agreement.arms import tally
from labelhub.core.agreement.coding import Codes
from labelhub.core.agreement.figures import figure, share, undefined
from labelhub.core.agreement.resampling import resample
from labelhub.core.schema import schema_from_names

#: Paper 000, table 10, gpt-4.1 in all roles, five passes: TP, FP, FN, TN. The paper prints the
#: second under FN and the third under FP.
GPT41 = [
    (134, 5, 9, 202),
    (133, 8, 10, 199),
    (137, 6, 6, 201),
    (133, 8, 10, 199),
    (136, 7, 7, 200),
]


def counted(passes: Sequence[tuple[int, int, int, int]]) -> tuple[Answers, Said]:
    """350 reviews of which 143 have the label, and what each pass said of them."""
    schema = schema_from_names("multi", ["Cleanliness"])
    codes = Codes(schema)
    gold = codes.all_of([["Cleanliness"]] * 143 + [[]] * 207)
    said = codes.all_of(
        value
        for tp, fp, fn, tn in passes
        for value in [["Cleanliness"]] * tp + [[]] * fn + [["Cleanliness"]] * fp + [[]] * tn
    )
    rows = np.tile(np.arange(350), len(passes))
    replicates = np.repeat(np.arange(1, len(passes) + 1), 350)
    answers = Answers("reviews", schema, codes, gold, resample(350), {})
    return answers, Said(1, rows, replicates, said, {}, 0, tally(codes, gold, rows, said))


def test_paper_000_table_3_follows_from_its_runs() -> None:
    found = label_figures(*counted(GPT41), "Cleanliness")

    # The paper means figures that it has cut off, not rounded, at two digits.
    stated = {"accuracy": 95.66, "precision": 95.19, "recall": 94.12, "f1": 94.65}
    for name, percent in stated.items():
        assert 100 * (found[name]["value"] or 0) == pytest.approx(percent, abs=0.02)
        low, high = found[name]["low"], found[name]["high"]
        assert low is not None
        assert high is not None
        assert low < percent / 100 < high
        assert found[name]["n"] == 350
    assert [found[name]["value"] for name in COUNTS] == pytest.approx([134.6, 6.8, 8.4, 200.2])


def test_paper_000_table_2_with_a_label_that_is_always_predicted() -> None:
    # gpt-4o-mini alone: printed FP 0.0 and FN 205.0.
    found = label_figures(*counted([(143, 205, 0, 2)] * 5), "Cleanliness")
    assert 100 * (found["precision"]["value"] or 0) == pytest.approx(41.09, abs=0.01)
    assert 100 * (found["f1"]["value"] or 0) == pytest.approx(58.24, abs=0.01)
    # Recall does not vary, whoever is drawn: Wilson's interval of 143 items.
    assert (found["recall"]["value"], found["recall"]["n"]) == (1.0, 143)
    assert found["recall"]["low"] == pytest.approx(0.9738, abs=1e-3)
    assert (found["fn"]["value"], found["fn"]["low"]) == (0, 0)
    assert found["fn"]["high"] == pytest.approx(350 * 0.01086, abs=0.01)


def test_one_pass_has_wilson_intervals() -> None:
    found = label_figures(*counted(GPT41[:1]), "Cleanliness")
    assert found["precision"] == share(134, 139, reason="")
    assert found["tp"]["value"] == pytest.approx(134)


def test_a_share_in_which_nothing_varies_still_has_an_interval() -> None:
    nothing = float("nan")
    sure = figure(1.0, low=nothing, high=nothing, n=8, method="bootstrap")
    assert with_ends(sure) == share(8, 8, reason="")
    assert with_ends(undefined("why")) == undefined("why")


def test_a_mean_of_files_is_unknown_where_one_is() -> None:
    known = share(1, 2, reason="")
    assert mean_of([known, undefined("no")], [])["value"] is None


@pytest.mark.parametrize(
    ("style", "value", "words"),
    [
        (PERCENT, 0.91641, "91.64%"),
        (POINTS, 0.62, "62.0"),
        (FRACTION, 0.66431, "0.6643"),
        (COUNT, 143, "143.0"),
        (POINTS, -0.0001, "0.0"),
    ],
)
def test_numbers_are_written_as_the_papers_write_them(
    style: Style, value: float, words: str
) -> None:
    shown = figure(value, low=value, high=value, n=1, method="")
    assert Shown(shown, style).words() == words


@pytest.mark.parametrize(
    ("change", "words"), [(-0.02, "62.0 (↓ 2.0)"), (0.015, "62.0 (↑ 1.5)"), (0.0, "62.0 (-0.0)")]
)
def test_changes_stand_behind_as_in_paper_001(change: float, words: str) -> None:
    shown = figure(0.62, low=0.5, high=0.7, n=200, method="Wilson")
    by = figure(change, low=change, high=change, n=200, method="")
    cell = Shown(shown, POINTS, change=by)
    assert (cell.words(), cell.interval()) == (words, "[50.0, 70.0]")


def test_the_highest_of_a_column_is_marked() -> None:
    low, high = (share(part, 10, reason="") for part in (4, 6))
    table = Table(["Model", "F1"], [["a", Shown(low)], ["b", Shown(high)], ["c", Shown(high)]])
    cells = [row[1] for row in with_best(table, ["F1"]).rows]
    words = [cell.words() for cell in cells if isinstance(cell, Shown)]
    assert words == ["40.00%", "**60.00%**", "**60.00%**"]
    assert with_best(Table(["F1"], [[Shown(low)]]), ["F1"]).notes == ()


def test_a_table_as_text_and_as_csv() -> None:
    known = figure(0.5, low=0.25, high=0.75, n=1000, method="Wilson")
    table = Table(
        ["Model", "Accuracy"],
        [["=cmd", Shown(known, mark="*")], ["b", Shown(undefined("nobody asked"))]],
        ["* marked", "plain"],
    )
    lines = text_lines(table)
    assert lines[2].split() == ["=cmd", "50.00%*", "1,000"]
    assert lines[3].strip() == "[25.00, 75.00]"
    assert "– nobody asked" in lines
    assert lines[-2:] == ["* marked", "Note: plain"]
    assert csv_rows(table) == [
        ["Model", "Accuracy", "Accuracy low", "Accuracy high", "Accuracy n"],
        ["'=cmd", "0.5", "0.25", "0.75", "1000"],
        ["b", "", "", "", ""],
    ]


def test_no_cell_of_words_is_a_formula_and_none_passes_for_a_guarded_one() -> None:
    rows: list[list[str | Shown]] = [["'=cmd", Shown(share(4, 10, reason=""))], ["b", "-1+cmd"]]
    assert [row[:2] for row in csv_rows(Table(["Model", "F1"], rows))[1:]] == [
        ["''=cmd", "0.4"],
        ["b", "'-1+cmd"],
    ]
