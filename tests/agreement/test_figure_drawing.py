"""What all pictures share: names cut to fit, places, and words for numbers."""

import itertools

import pytest

from apps.agreement.figures.drawing import Scale, down_to, mark, prefix_of, round_values, spread
from apps.agreement.figures.wording import clean, cut, sentence, told, width_of
from labelhub.core.agreement.figures import undefined
from tests.agreement.figure_help import HOSTILE, fig


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_cut_to_its_room(name: str) -> None:
    assert width_of(cut(name, 80)) <= 85


def test_a_cut_name_ends_in_an_ellipsis_and_a_short_one_stays() -> None:
    assert cut("x" * 200, 80).endswith("x…")
    assert cut("w 030", 80) == "w 030"


def test_a_name_cannot_turn_the_direction_of_what_stands_beside_it() -> None:
    assert "\u202e" not in cut("\u202eabc", 80)


def test_what_no_xml_file_may_hold_is_replaced() -> None:
    assert clean("a\x00b\x0bc\ud800\ufffe") == "a\ufffdb\ufffdc\ufffd\ufffd"
    assert clean("tab\tand\nline") == "tab\tand\nline"


def test_prefixes_are_ids_and_differ_where_the_keys_do() -> None:
    keys = ("heatmap", "heatmap-2", "Heatmap", "heatmap <2>", "heatmap (2)", "ü", "é")
    prefixes = [prefix_of(key) for key in keys]
    assert len(set(prefixes)) == len(keys)
    assert all(prefix.replace("-", "").isalnum() and prefix.isascii() for prefix in prefixes)


def test_names_at_one_place_are_moved_apart_within_the_ends() -> None:
    places = spread([50, 50, 50, 99], 14, 0, 100)
    ordered = sorted(places)
    assert all(after - before >= 14 for before, after in itertools.pairwise(ordered))
    assert min(places) >= 0
    assert max(places) <= 100


def test_a_scale_keeps_values_within_the_plot() -> None:
    scale = Scale(0, 1, 10, 110)
    assert [scale.at(value) for value in (-1, 0, 0.5, 1, 2)] == [10, 10, 60, 110, 110]
    assert Scale(0.01, 100, 0, 400, log=True).at(1) == 200


def test_ticks_are_round_numbers_within_the_ends() -> None:
    assert round_values(0.5, 1, 4) == [0.6, 0.8, 1.0]
    assert round_values(-0.2, 1, 4) == [0, 0.5, 1.0]
    assert round_values(0, 0) == [0]


def test_an_axis_starts_below_every_value_but_a_share_never_below_nothing() -> None:
    assert down_to([0.5, 0.7]) == 0.4
    assert down_to([0.0]) == 0.0
    assert down_to([-0.05]) == -0.1


def test_a_figure_is_told_with_interval_and_n_or_with_its_reason_in_words() -> None:
    assert sentence(fig(0.62)) == "0.62 (0.57 to 0.67), n 300"
    assert sentence(fig(0.62), percent=True) == "62 % (57 % to 67 %), n 300"
    assert sentence(undefined("no_gold")) == "no number: No item has gold."
    assert told(undefined("no_gold")).reason == "No item has gold."
    assert sentence(None).startswith("no number")


def test_each_kind_has_a_shape_of_its_own_and_the_unknown_one_too() -> None:
    kinds = ("llm", "crowd", "expert", "author", "model", "gold", "unheard of")
    assert len({mark(kind, 0, 0).shape for kind in kinds}) == len(kinds)
