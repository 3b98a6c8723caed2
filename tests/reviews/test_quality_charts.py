"""Charts of somebody's work: each stretch with its interval, a gap where nothing is known."""

import numpy as np

from apps.common.charts import Line, Point
from apps.reviews.quality.charts import accuracy_chart, speed_chart
from apps.reviews.quality.work import Stretch
from tests.cases import present


def test_a_stretch_without_a_number_is_a_gap_and_the_rest_has_intervals() -> None:
    quick = np.array([8.0] * 30)
    stretches = [
        Stretch("1–100", 100, 30, 40, quick),
        Stretch("101–200", 100, 0, 0, quick),
        Stretch("201–300", 100, 40, 40, quick * 3),
    ]
    right = present(accuracy_chart(stretches, "crowd"))
    [line] = [mark for mark in right.marks if isinstance(mark, Line)]
    assert line.points == [(0, 0.75), None, (2, 1.0)]
    points = [mark for mark in right.marks if isinstance(mark, Point)]
    assert all(point.y_ends and point.y_ends[0] < point.y <= point.y_ends[1] for point in points)
    assert points[0].words.startswith("1–100: 75\xa0%, ")
    assert [row["labels"] for row in right.rows] == [100, 100, 100]

    speed = present(speed_chart(stretches, "crowd"))
    assert speed.y.high >= 24
    assert [speed.y.words(tick) for tick in speed.y.ticks or ()][:2] == ["0", "10 s"]


def test_without_known_answers_there_is_no_chart() -> None:
    assert accuracy_chart([Stretch("1–100", 100, 0, 0, np.array([]))], "crowd") is None
    assert speed_chart([], "crowd") is None
