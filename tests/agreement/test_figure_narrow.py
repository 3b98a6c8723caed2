"""Pictures on a phone: nothing is cut off, nothing stands on something else."""

from itertools import pairwise

from apps.agreement.figures.confusion import confusion
from apps.agreement.figures.curve import curve
from apps.agreement.figures.drawing import WIDTH
from apps.agreement.figures.lines import Series
from apps.agreement.figures.over_time import over_time
from apps.agreement.figures.wording import width_of
from tests.agreement.figure_help import TESTS, fig


def test_a_matrix_of_five_labels_fits_and_one_of_twelve_scrolls() -> None:
    five, twelve = (
        confusion(labels, {(one, one): 3 for one in labels})
        for labels in (["a", "b", "c", "d", "e"], [f"label {at}" for at in range(12)])
    )
    assert five is not None
    assert twelve is not None
    assert (five.width, five.wide) == (WIDTH, False)
    assert all(count.x + count.width <= WIDTH for count in five.counts)
    assert twelve.wide


def test_periods_below_a_line_do_not_run_into_each_other() -> None:
    periods = [f"Oct {day}–Nov {day - 20}" for day in range(21, 29)]
    picture = over_time(periods, [Series("Crowd", "crowd", [fig(0.5)] * 8)], of="alpha")

    assert picture is not None
    ticks = sorted(picture.axes.x_ticks, key=lambda tick: tick.at)
    assert len(ticks) >= 2
    assert {tick.words for tick in ticks} <= set(periods)
    for one, other in pairwise(ticks):
        assert one.at + width_of(one.words) / 2 < other.at - width_of(other.words) / 2


def test_the_epsilon_used_stands_above_the_letters_of_who_beats_all() -> None:
    best = {"bold": {**TESTS["bold"], "winning_rate": 1.0}}
    picture = curve(best)

    assert picture is not None
    (used,), (letters,) = picture.used, picture.letters
    line_of_type = 12
    assert used.y <= letters.y - line_of_type
    assert picture.axes.y_words_y <= used.y - line_of_type
