"""What each chart of agreement shows: its numbers, in one order, and what cannot be drawn."""

from typing import TypeVar

import pytest

from apps.agreement.automation.page import risk_coverage
from apps.agreement.charts import Offer, cost_quality, is_share, sentence
from apps.agreement.report.charts import MOST_LABELS, Source, winning_rates
from apps.common.charts import Cell, Chart, Line, Mark, Point, Rule
from labelhub.core.agreement.figures import undefined
from tests.agreement.chart_help import (
    CHARTS,
    EMPTY,
    TESTS,
    bars,
    confusion_of,
    fig,
    heatmap_of,
    risk,
    steps,
)

KINDS = [Source(kind, kind.title(), kind) for kind in ("author", "crowd", "llm")]


def made(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


M = TypeVar("M", bound=Mark)


def marks_of(chart: Chart | None, kind: type[M]) -> list[M]:
    return [mark for mark in made(chart).marks if isinstance(mark, kind)]


def kinds_map() -> Chart:
    figures = {
        ("llm", "llm"): fig(0.85),
        ("crowd", "llm"): fig(0.3),
        ("author", "author"): undefined("one_annotator"),
    }
    return made(heatmap_of(KINDS, figures))


def cell_of(chart: Chart, names: str) -> Cell:
    return next(cell for cell in marks_of(chart, Cell) if cell.words.startswith(f"{names}:"))


def annotators(count: int, kind: str = "crowd") -> list[Source]:
    return [Source(number, f"w{number:03}", kind) for number in range(count)]


def test_without_numbers_there_is_no_chart() -> None:
    assert {name: draw() for name, draw in EMPTY.items()} == dict.fromkeys(EMPTY)


def test_a_figure_is_said_with_interval_and_n_or_with_its_reason_in_words() -> None:
    assert sentence(fig(0.62)) == "0.62 (0.57 to 0.67), n 300"
    assert sentence(fig(0.62), percent=True) == "62\xa0% (57\xa0% to 67\xa0%), n 300"
    assert sentence(undefined("no_gold")) == "no number: No item has gold."
    assert sentence(None).startswith("no number")


def test_shares_are_per_cent_and_f1_and_coefficients_are_numbers() -> None:
    shares = ["accuracy", "median_accuracy", "micro_precision", "recall", "percent", "exact_match"]
    numbers = ["f1", "macro_f1", "token_f1", "cohen_kappa", "alpha_nominal", "mcc", "spearman"]
    assert [name for name in (*shares, *numbers) if is_share(name)] == shares


def test_the_table_of_a_chart_of_shares_is_in_per_cent_like_the_chart() -> None:
    for name in ("interval_bars", "agreeing", "winning_rates", "reliability", "cost_quality"):
        header, rows = made(CHARTS[name]()).table
        value = header.index("value")
        assert all(row[value].endswith(("\xa0%", "–")) for row in rows), name


def test_a_cell_shows_its_number_and_n_and_on_hover_the_interval_or_the_reason() -> None:
    chart = kinds_map()
    cell = cell_of(chart, "Llm and Crowd")
    assert (cell.text, cell.n, cell.step) == ("0.30", "n 300", 2)
    assert cell.words == "Llm and Crowd: 0.30 (0.25 to 0.35), n 300"
    assert cell_of(chart, "Crowd and Llm").text == cell.text, "the same pair from the other side"
    none = cell_of(chart, "within Author")
    assert (none.text, none.n, none.step) == ("–", "", 0)
    assert none.words.endswith("Needs two annotators.")
    assert cell_of(chart, "Crowd and Author").words.endswith("No item has labels of both.")


def test_rows_have_their_value_interval_and_n_and_a_line_to_compare_with() -> None:
    chart = made(bars())
    single, majority = marks_of(chart, Point)
    assert single.x == 0.7
    assert single.x_ends == pytest.approx((0.65, 0.75))
    assert majority.x == 0.9
    assert majority.x_ends == pytest.approx((0.85, 0.95))
    head, _, row, none = chart.y.names
    assert (head.text, head.head) == ("Crowd", True)
    assert (row.text, row.value, row.n) == ("majority", "90\xa0%", "n 300")
    assert (none.text, none.value) == ("Author", "")
    assert none.reason.startswith("No item has gold")
    assert chart.rows[0] == {
        "source": "Crowd", "kind": "crowd", "measure": "each label",
        **fig(0.7), "note": "",
    }  # fmt: skip


def test_the_twelve_most_frequent_labels_are_drawn() -> None:
    for count in (MOST_LABELS, MOST_LABELS + 1):
        labels = [str(number) for number in range(count)]
        last = labels[-1]
        chart = made(confusion_of(labels, {("0", "0"): 1, (last, "0"): 2}))
        assert len(chart.marks) == MOST_LABELS**2
        assert [name.text for name in chart.x.names][-1] == last
        assert ("12 most frequent of 13 labels" in chart.note) is (count > MOST_LABELS)
        assert chart.rows[0] == {"said": "0", "true": "0", "items": 1, "note": "right"}


def test_items_that_ties_share_are_counted_in_part() -> None:
    chart = made(confusion_of(["a", "b"], {("a", "a"): 2.5, ("b", "a"): 0.5}))
    right, _, wrong, nothing = marks_of(chart, Cell)
    assert (right.text, wrong.text, nothing.text) == ("2.5", "0.5", "0")
    assert "right, 2.5 of 3" in chart.note
    assert wrong.words == "0.5 items: answer b, gold a; 100\xa0% of these answers"


def test_winning_rates_mark_the_used_epsilon_half_and_the_verdict_of_each_machine() -> None:
    chart = winning_rates({"alt_test": TESTS})
    lines = marks_of(chart, Line)
    assert [line.name for line in lines] == [
        "A bold, 80\xa0%: passes",
        "B shy, 30\xa0%: does not pass",
    ]
    assert len({line.dash for line in lines}) == 2
    half, used = marks_of(chart, Rule)
    assert (half.y, used.x, used.name) == (0.5, 0.1, "ε 0.1 used")
    assert [(point.label, point.y) for point in marks_of(chart, Point)] == [("A", 0.8), ("B", 0.3)]


def test_the_chosen_share_is_shown_with_its_bound_or_that_there_is_none() -> None:
    path, chosen = steps()
    assert chosen is not None
    target, line = marks_of(risk(), Rule)
    assert (target.y, line.x) == (0.05, chosen.coverage)
    assert line.name.startswith(f"{chosen.coverage:.0%} accepted".replace("%", "\xa0%"))
    assert [point.y for point in marks_of(risk(), Point)] == [chosen.bound]
    assert chosen.bound <= 0.05
    none = made(risk_coverage(path, target=0.001))
    assert marks_of(none, Point) == []
    assert "No threshold keeps the target of 0.1\xa0%" in none.description


def test_what_another_beats_is_grey_and_the_rest_is_joined() -> None:
    offers = [
        Offer("LLM", "llm", fig(0.5, 0.1), fig(0.8)),
        Offer("Crowd", "crowd", fig(1.0, 0.1), fig(0.7)),
        Offer("Expert", "expert", fig(1.5, 0.1), fig(0.9)),
        Offer("Author", "author", undefined("not_recorded"), fig(0.9)),
    ]
    chart = made(cost_quality(offers))
    assert [(point.label, point.quiet) for point in marks_of(chart, Point)] == [
        ("LLM", False), ("Crowd", True), ("Expert", False),
    ]  # fmt: skip
    assert [line.points for line in marks_of(chart, Line)] == [[(0.5, 0.8), (1.5, 0.9)]]
    assert [chart.x.words(tick) for tick in (0, 0.0025, 0.01, 0.015, 0.5, 1500)] == [
        "$0", "$0.0025", "$0.01", "$0.015", "$0.50", "$1,500.00",
    ]  # fmt: skip
    assert [row["note"] for row in chart.rows] == ["front", "", "front", ""]


def test_every_chart_has_tidy_rows_with_the_same_columns() -> None:
    for name, draw in CHARTS.items():
        rows = made(draw()).rows
        assert rows, name
        assert len({tuple(row) for row in rows}) == 1, name
