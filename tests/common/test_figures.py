"""Numbers are shown with their doubt and no more digits than are known."""

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from apps.common.charts import number_tick, share_tick
from apps.common.figures import (
    draw_figure,
    duration,
    localise,
    money,
    number_words,
    share_words,
    usd,
)
from labelhub.core.phrases import Phrase


@pytest.mark.parametrize(
    ("figure", "percent", "words"),
    [
        ({"value": 0.8123, "low": 0.77, "high": 0.85, "n": 412}, True, "81\xa0%"),
        ({"value": 0.91234, "low": 0.9101, "high": 0.9148, "n": 52000}, True, "91.2\xa0%"),
        ({"value": 0.75, "low": 0.35, "high": 0.97, "n": 8}, True, "75\xa0%"),
        ({"value": 0.6112, "low": 0.55, "high": 0.68, "n": 300}, False, "0.61"),
        ({"value": -0.12, "low": -0.3, "high": 0.05, "n": 60}, False, "−0.12"),
        ({"value": 0.7, "low": 0.4, "high": 0.9, "n": 20}, False, "0.70"),
        ({"value": -0.001, "low": -0.1, "high": 0.1, "n": 20}, False, "0.00"),
        ({"value": -0.13, "low": -0.3, "high": 0.0, "n": 20}, True, "−13\xa0%"),
        ({"value": 1.0, "low": 1.0, "high": 1.0, "n": 5}, True, "100\xa0%"),
        ({"value": 0.5, "n": 3}, True, "50\xa0%"),
        ({"value": 0.0, "low": 0.0, "high": 0.2, "n": 30}, True, "0\xa0%"),
    ],
)
def test_as_many_digits_as_are_known(figure: dict[str, float], percent: bool, words: str) -> None:
    assert draw_figure(figure, percent=percent).value == words


@pytest.mark.parametrize(
    ("figure", "reason"),
    [
        ({"value": None, "reason": "needs two annotators"}, "needs two annotators"),
        ({"value": None}, "not computed"),
        ({"value": float("nan")}, "not computed"),
        ({}, "not computed"),
        (None, "not computed"),
    ],
)
def test_what_is_not_known_says_why(figure: dict[str, object] | None, reason: str) -> None:
    drawn = draw_figure(figure)
    assert (drawn.reason, drawn.value) == (reason, "")


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_the_bar_stays_in_its_frame(
    value: float, below: float, above: float, percent: bool
) -> None:
    figure = {"value": value, "low": value - below, "high": value + above, "n": 10}
    drawn = draw_figure(figure, percent=percent)
    places = [float(drawn.x_low), float(drawn.x), float(drawn.x_high)]
    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)


def test_a_bar_that_reaches_below_zero_has_zero_in_its_middle() -> None:
    drawn = draw_figure({"value": 0.0, "low": -0.2, "high": 0.2, "n": 10})
    assert (drawn.x_low, drawn.x, drawn.x_high) == ("40.0", "50.0", "60.0")


@pytest.mark.parametrize(
    ("nano", "words"),
    [
        (1_200_000, "$0.0012"),
        (3_400_000_000, "$3.40"),
        (0, "$0"),
        (1_234_567_000_000_000, "$1,234,567.00"),
        (2_500_000_000, "$2.50"),
        (99_000_000, "$0.10"),
        (12_300_000, "$0.01"),
        (9_999_999, "$0.01"),
        (9_900_000, "$0.0099"),
        (3, "$0.000000003"),
        (-1_200_000, "−$0.0012"),
        (None, "—"),
    ],
)
def test_money_has_two_decimals_and_below_a_cent_two_known_digits(
    nano: int | None, words: str
) -> None:
    assert money(nano) == words


def test_an_amount_in_a_message_reads_like_one_on_a_page() -> None:
    message = Phrase.read(Phrase("%(amount)s is spent", amount=usd(2_500_000_000)).stored())
    assert message == "$2.50 is spent"
    for language, words in (("en", "$2.50"), ("de", "2,50 $"), ("es", "2,50 US$")):
        with override(language):
            assert words in str(message)
            assert money(2_500_000_000) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.0 s"),
        (0.84, "0.8 s"),
        (12.4, "12 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (3601, "1 h"),
        (90_000, "1 d 1 h"),
        (None, "—"),
        (float("inf"), "—"),
    ],
)
def test_durations_are_said_in_two_units_at_most(seconds: float | None, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(("value", "place"), [(0.25, "25.0"), (1.0, "100.0"), (-0.5, "25.0")])
def test_a_number_without_an_interval_has_its_place_on_the_bar(value: float, place: str) -> None:
    drawn = draw_figure({"value": value, "low": None, "high": None, "n": 4})
    assert (drawn.x, drawn.low, drawn.n) == (place, "", "4")


def test_a_percent_sign_stays_on_the_line_of_its_number_and_on_its_right() -> None:
    for words in (share_words(0.87), share_tick(0.87)):
        assert words == "87\xa0%"
    with override("ar"):
        # A page from right to left would put the sign on the left of an English number.
        for words in (share_words(0.87), share_tick(0.87)):
            assert words == "\u206687\xa0%\u2069"


def test_there_is_one_minus_sign() -> None:
    with override("de"):
        assert {localise("-0.39"), number_words(-0.39), number_tick(-0.39)} == {"−0,39"}
