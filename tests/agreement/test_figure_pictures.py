"""What each picture shows: values at their places, in one order, with what cannot be drawn said."""

import pytest
from django.template.loader import render_to_string

from apps.agreement.figures.agreeing import Agreeing, agreeing
from apps.agreement.figures.confusion import confusion
from apps.agreement.figures.cost_quality import Offer, cost_quality
from apps.agreement.figures.curve import MOST as MOST_MACHINES
from apps.agreement.figures.curve import Curve, curve
from apps.agreement.figures.heatmap import (
    MOST,
    Heatmap,
    HeatmapSource,
    from_report,
    heatmap,
    step_of,
)
from apps.agreement.figures.interval_bars import IntervalBars
from apps.agreement.figures.lines import Series
from apps.agreement.figures.over_time import OverTime, over_time
from apps.agreement.figures.reliability import Reliability
from apps.agreement.figures.risk_coverage import RiskCoverage, risk_coverage
from labelhub.core.agreement.figures import undefined
from tests.agreement.figure_help import (
    AGREEING,
    TESTS,
    a_reliability,
    bars,
    fig,
    risk,
    steps,
    time_line,
)

KINDS = [HeatmapSource(kind, kind.title(), kind) for kind in ("author", "crowd", "llm")]


def kinds_map() -> Heatmap:
    figures = {
        ("llm", "llm"): fig(0.85),
        ("crowd", "llm"): fig(0.3),
        ("author", "author"): undefined("one_annotator"),
    }
    picture = heatmap(KINDS, figures, of="alpha")
    assert picture is not None
    return picture


def annotators(count: int, kind: str = "crowd") -> list[HeatmapSource]:
    return [HeatmapSource(at, f"w{at:03}", kind) for at in range(count)]


def test_kinds_stand_in_their_one_order_whatever_order_they_come_in() -> None:
    picture = kinds_map()
    assert [row.name for row in picture.rows] == ["Llm", "Crowd", "Author"]
    assert [column.name for column in picture.columns] == ["Llm", "Crowd", "Author"]


def test_a_cell_shows_its_number_its_n_and_in_its_title_the_interval() -> None:
    cells = {cell.words.split(":")[0]: cell for cell in kinds_map().squares}
    cell = cells["Llm and Crowd"]
    assert (cell.value, cell.n, cell.step) == ("0.30", "n 300", 2)
    assert cell.words == "Llm and Crowd: 0.30 (0.25 to 0.35), n 300"
    assert cells["Crowd and Llm"].value == cell.value, "the same pair from the other side"


def test_the_diagonal_is_agreement_within_a_kind() -> None:
    own = [cell for cell in kinds_map().squares if cell.own]
    assert [cell.words.split(":")[0] for cell in own] == [
        "within Llm", "within Crowd", "within Author",
    ]  # fmt: skip
    assert own[0].step == 5


def test_a_cell_without_a_number_has_a_dash_and_its_reason() -> None:
    cells = {cell.words.split(":")[0]: cell for cell in kinds_map().squares}
    cell = cells["within Author"]
    assert (cell.value, cell.n, cell.step) == ("–", "", 0)
    assert cell.words.endswith("Needs two annotators of this kind.")
    assert cells["Crowd and Author"].words.endswith("No item has labels of both.")


@pytest.mark.parametrize(
    ("value", "step"), [(-0.4, 1), (0.19, 1), (0.2, 2), (0.59, 3), (0.6, 4), (0.8, 5), (1, 5)]
)
def test_five_steps_from_little_to_full_agreement(value: float, step: int) -> None:
    assert step_of(value) == step


def test_annotators_are_grouped_by_kind_and_no_more_than_forty_are_drawn() -> None:
    sources = annotators(MOST + 5)
    mixed = [*sources[:20], HeatmapSource("m", "judge", "llm"), *sources[20:]]
    picture = heatmap(mixed, {(0, 1): fig(-0.05), ("m", 0): fig(1.0, 0)}, of="kappa")
    assert picture is not None
    assert len(picture.squares) == MOST**2
    assert picture.wide
    assert picture.rows[0].name == "judge"
    assert [group.words for group in picture.groups] == ["LLM", "Crowd"]
    assert "6 more are not drawn" in picture.words
    values = {cell.words: cell.value for cell in picture.squares if cell.step}
    assert set(values.values()) == {"−.05", "1"}


def test_a_page_shows_the_first_rows_of_a_long_table_and_the_file_all() -> None:
    figures = {(one, other): fig(0.5) for one in range(30) for other in range(one)}
    picture = heatmap(annotators(30), figures, of="kappa")
    assert picture is not None
    assert len(picture.table[1]) == 30 * 29 / 2
    assert len(picture.table_words[1]) + picture.rows_left_out == len(picture.table[1])
    page = render_to_string("agreement/figures/figure.html", {"figure": picture})
    assert f"{picture.rows_left_out} more rows are in the CSV file" in page


def test_shares_in_a_heatmap_read_as_per_cent() -> None:
    picture = heatmap(KINDS, {("llm", "crowd"): fig(0.83)}, of="share", percent=True)
    assert picture is not None
    assert {cell.value for cell in picture.squares if cell.step} == {"83 %"}


def test_a_report_gives_the_sources_and_figures_of_kinds_and_of_annotators() -> None:
    pair = {"a": "w1", "b": "m", "a_kind": "crowd", "b_kind": "llm", "a_id": 1, "b_id": 2}
    report = {
        "within": {"llm": {"alpha_nominal": fig(0.9)}, "crowd": {"alpha_nominal": fig(0.4)}},
        "between": [
            {"a": "llm", "b": "crowd", "level": "kind", "cohen_kappa": fig(0.5)},
            {**pair, "level": "annotator", "cohen_kappa": fig(0.6)},
        ],
    }
    sources, figures = from_report(report, between="cohen_kappa", within="alpha_nominal")
    assert [source.name for source in sources] == ["LLM", "Crowd"]
    assert set(figures) == {("llm", "llm"), ("crowd", "crowd"), ("llm", "crowd")}
    people, between = from_report(
        report, between="cohen_kappa", within="alpha_nominal", level="annotator"
    )
    assert [(one.key, one.name, one.kind) for one in people] == [
        (1, "w1", "crowd"), (2, "m", "llm"),
    ]  # fmt: skip
    assert between == {(1, 2): fig(0.6)}


def test_bars_stand_with_their_interval_and_the_line_to_compare_with() -> None:
    picture = bars()
    assert isinstance(picture, IntervalBars)
    each, majority, none = picture.bars
    assert each.x_low < each.x_high < majority.x_low < majority.x_high
    assert (majority.value, majority.n) == ("90 %", "n 300")
    assert picture.references[0].x < each.x_low
    assert [head.name for head in picture.heads] == ["Crowd"]
    assert none.mark is None
    assert none.reason.startswith("No item has gold")


def test_a_matrix_marks_what_is_right_and_shades_by_what_was_said() -> None:
    counts = {("a", "a"): 90, ("a", "b"): 10, ("b", "b"): 5}
    picture = confusion(["a", "b"], counts, truth="gold")
    assert picture is not None
    assert [cell.right for cell in picture.counts] == [True, False, False, True]
    assert [cell.step for cell in picture.counts] == [5, 1, 0, 5]
    assert picture.counts[1].words == "10 items: said a, gold b; 10% of what was said"
    assert picture.table[1] == [["a", 90, 10, 100], ["b", 0, 5, 5]]


def test_twelve_labels_are_drawn_and_thirteen_are_a_table() -> None:
    for count, drawn in ((12, True), (13, False)):
        labels = [str(at) for at in range(count)]
        picture = confusion(labels, {("0", "0"): 1})
        assert picture is not None
        assert picture.drawn is drawn
        assert bool(picture.counts) is drawn


def test_the_more_agree_the_further_right_with_the_items_counted_below() -> None:
    picture = agreeing({"expert": AGREEING[:1], "llm": AGREEING})
    assert isinstance(picture, Agreeing)
    first, second = picture.lines
    assert (first.label.name, second.label.name) == ("LLM", "Expert")
    low, high = first.spots
    assert low.x < high.x
    assert low.y > high.y, "up is right more often"
    assert high.y_high < high.y < high.y_low
    assert [tally.words for tally in picture.tallies] == ["40", "60", "40"]


def test_a_curve_marks_the_used_epsilon_half_and_the_verdict_of_each_machine() -> None:
    picture = curve(TESTS)
    assert isinstance(picture, Curve)
    assert [(run.label.name, run.verdict) for run in picture.runs] == [
        ("A bold", "80 %: passes"), ("B shy", "30 %: does not pass"),
    ]  # fmt: skip
    assert [label.name for label in picture.used] == ["ε 0.1 used"]
    above, below = picture.letters
    assert above.y < picture.half_y < below.y
    assert len({run.dash for run in picture.runs}) == 2


def test_more_machines_than_can_be_told_apart_are_in_the_table_only() -> None:
    tests = {f"m{at}": TESTS["bold"] for at in range(MOST_MACHINES + 2)}
    picture = curve(tests)
    assert picture is not None
    assert len(picture.runs) == MOST_MACHINES
    assert "2 more are in the table" in picture.words
    assert len({row[0] for row in picture.table[1]}) == MOST_MACHINES + 2
    assert [letters.letters for letters in picture.letters] == ["ABCDEFG"]


def test_a_period_without_a_number_breaks_the_line() -> None:
    picture = time_line()
    assert isinstance(picture, OverTime)
    assert len(picture.lines[0].spots) == 2
    assert picture.lines[0].pieces == []


def test_many_periods_scroll_and_their_names_are_thinned() -> None:
    months = [f"{2020 + at // 12}-{at % 12 + 1:02}" for at in range(48)]
    picture = over_time(months, [Series("LLM", "llm", [fig(0.5)] * 48)], of="alpha")
    assert picture is not None
    assert picture.wide
    assert len(picture.axes.x_ticks) < 20
    assert "2023-12" in {tick.words for tick in picture.axes.x_ticks}


def test_confidence_and_share_right_have_one_scale_and_every_bin_its_count() -> None:
    picture = a_reliability()
    assert isinstance(picture, Reliability)
    across = [tick.words for tick in picture.axes.x_ticks]
    assert across == [tick.words for tick in picture.axes.y_ticks]
    assert [spot.n for spot in picture.spots] == ["7", *["6"] * 8, "5"]
    assert max(spot.bar_height for spot in picture.spots) == picture.spots[0].bar_height


def test_the_chosen_share_is_told_with_its_bound() -> None:
    picture = risk()
    chosen = steps()[1]
    assert isinstance(picture, RiskCoverage)
    assert chosen is not None
    assert picture.chosen is not None
    assert picture.chosen.name == f"{chosen.coverage:.0%} accepted".replace("%", " %")
    assert picture.chosen.y >= picture.target_y, "the bound stays below the target"


def test_where_no_threshold_keeps_the_target_the_picture_says_so() -> None:
    picture = risk_coverage(steps()[0], target=0.001)
    assert picture is not None
    assert picture.chosen is None
    assert "No threshold keeps the target of 0.1 %" in picture.words


def test_what_another_beats_is_grey_and_the_rest_is_joined() -> None:
    offers = [
        Offer("LLM", "llm", fig(0.5, 0.1), fig(0.8)),
        Offer("Crowd", "crowd", fig(1.0, 0.1), fig(0.7)),
        Offer("Expert", "expert", fig(1.5, 0.1), fig(0.9)),
        Offer("Author", "author", undefined("not_recorded"), fig(0.9)),
    ]
    picture = cost_quality(offers)
    assert picture is not None
    assert [point.on_front for point in picture.points] == [True, False, True]
    assert len(picture.front.split()) == 3
    assert picture.axes.x_ticks[0].words == "$0"
    assert [row[-1] for row in picture.table[1]] == ["front", "", "front", ""]


def test_costs_far_apart_stand_on_a_logarithmic_axis_unless_one_is_free() -> None:
    dear, cheap, free = (
        Offer("a", "expert", fig(1.0, 0.1), fig(0.9)),
        Offer("b", "llm", fig(0.001, 0.0001), fig(0.8)),
        Offer("c", "model", fig(0.0, 0.0), fig(0.6)),
    )
    for offers, log in (([dear, cheap], True), ([dear, cheap, free], False)):
        picture = cost_quality(offers)
        assert picture is not None
        assert ("ten times" in picture.axes.x_words) is log
