"""Predictions beside the answers that came to them: noted once, gone with the answer, counted by
the database in bounded steps."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.authors.models import Author
from apps.authors.services.privacy import erase_author
from apps.authors.services.trust import set_ruling
from apps.echo.models import Echo, Scored, Selection
from apps.echo.selectors import predictions
from apps.echo.selectors.predictions import (
    Tally,
    calibration_error,
    merged_tallies,
    newest_scored,
    reliability,
    tallies_by_feature,
    tallies_of,
    total_tally,
)
from apps.echo.services.learning import keep_up_with
from tests.factories.authors import author_of
from tests.factories.echo import TEXT, answer, ask_author, log_answers

pytestmark = pytest.mark.django_db


def answered(author: Author) -> None:
    question = next(asked for asked in ask_author(author, TEXT) if asked.options)
    answer(author, question)


def test_a_prediction_is_noted_with_what_was_told_of_it(echo: Echo) -> None:
    answered(author_of(echo.site))
    keep_up_with(echo)
    keep_up_with(echo)
    noted = Scored.objects.get()
    event = noted.event
    prediction = Selection.objects.get().predicted[event.feature]
    assert (noted.number, noted.feature) == (event.number, event.feature)
    assert noted.loss == event.data["loss"]
    assert noted.sigma == prediction["sigma"]


def test_it_is_counted_while_the_answer_counts(echo: Echo) -> None:
    author = author_of(echo.site)
    answered(author)
    keep_up_with(echo)
    assert newest_scored(echo).count() == 1
    set_ruling(author, trusted=False, reason="clicks without reading")
    keep_up_with(echo)
    assert newest_scored(echo).count() == 0
    set_ruling(author, trusted=True)
    keep_up_with(echo)
    assert newest_scored(echo).count() == 1


def test_it_goes_with_its_author(echo: Echo) -> None:
    author = author_of(echo.site)
    answered(author)
    keep_up_with(echo)
    erase_author(author)
    assert not Scored.objects.exists()


def test_the_answers_are_counted_in_their_order(echo: Echo) -> None:
    log_answers(echo, "urgency", [(1.0, 0.8), (1.0, 0.6), (0.0, 0.4), (0.0, 0.2)])
    log_answers(echo, "budget", [(0.25, 0.3)])
    tallies = tallies_of(echo)
    assert [tally.wrong for tally in tallies] == [1.0, 1.0, 0.0, 0.0, 0.25]
    assert (total_tally(tallies).n, total_tally(tallies).wrong) == (5, 2.25)
    assert total_tally(tallies).sigma == pytest.approx(2.3)
    assert {
        key: total_tally(tallies).n
        for key, tallies in tallies_by_feature(echo, ["urgency", "budget"]).items()
    } == {
        "urgency": 4,
        "budget": 1,
    }
    assert total_tally(tallies_of(echo, "budget")).right == 0.75


def test_neighbours_are_put_together_until_each_point_has_about_as_many() -> None:
    merged = merged_tallies([Tally(10, 1.0, 1.0)] * 10, most=5)
    assert [tally.n for tally in merged] == [20] * 5
    assert [tally.upto for tally in merged] == [20, 40, 60, 80, 100]
    assert [tally.n for tally in merged_tallies([Tally(1, 0.0, 0.5)] * 30)] == [12, 18]
    assert merged_tallies([]) == []
    assert [
        tally.n for tally in merged_tallies([Tally(1, 0, 0), Tally(90, 1, 1), Tally(2, 0, 0)], 2)
    ] == [93]


@pytest.mark.thorough
def test_a_hundred_times_the_answers_take_as_many_rows(
    echo: Echo, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_answers(echo, "urgency", [(0.0, 0.3)] * 20)
    few = rows_read(echo)
    log_answers(echo, "urgency", [(1.0, 0.6)] * 2_000)
    many = rows_read(echo)
    assert few <= many <= predictions.FINE + predictions.COARSE + predictions.PARTS + 3
    monkeypatch.setattr(predictions, "WINDOW", 500)
    assert total_tally(tallies_of(echo)).n == 500


def rows_read(echo: Echo) -> int:
    """Rows that the database hands over for all that a page counts; three queries."""
    with CaptureQueriesContext(connection) as queries:
        read: list[Any] = [*tallies_of(echo), *reliability(echo)]
        read += [
            tally for tallies in tallies_by_feature(echo, ["urgency"]).values() for tally in tallies
        ]
    assert len(queries) == 3
    return len(read)


def test_the_calibration_is_what_was_told_beside_what_came(echo: Echo) -> None:
    log_answers(echo, "urgency", [(0.0, 0.05)] * 9 + [(1.0, 0.05)] + [(1.0, 0.95)] * 10)
    parts = reliability(echo)
    assert [(part.n, part.wrong) for part in parts] == [(10, 1.0), (10, 10.0)]
    assert calibration_error(parts) == pytest.approx((0.5 + 0.5) / 20)
    assert calibration_error([]) is None
