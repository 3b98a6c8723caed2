"""A line of the log is read as it was written, and a damaged one is named, never applied."""

from typing import Any

import pytest

from labelhub.core.echo.events import (
    Answered,
    Event,
    Expected,
    Frozen,
    Named,
    Restored,
    Rewarded,
    Withdrawn,
    from_json,
    kind_of,
    to_json,
)
from labelhub.core.echo.vectors import PLACES, vector_of
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases

ANSWERED = Answered(
    id="a",
    author="ada",
    trusted=True,
    feature="urgency",
    value="now",
    predicted="later",
    loss=1.0,
    signs=(1.0, 0.2, 0.1, 0.0, -0.4, 1.0),
    vector=vector_of("by Friday"),
    values=("now", "later"),
    llm_value="now",
    llm_shares=(0.9, 0.1),
)
REWARDED = Rewarded("r", "ada", True, (("urgency", 0.7), ("mood", 0.0)), 1.0)
NAMED = Named("n", "ada", True, (("urgency", 0.7), ("mood", 0.0)), "mood")
EXPECTED = Expected("x", "mood", -1.0)
NAN = float("nan")


def test_a_reward_of_a_former_log_says_nothing_of_dismissals() -> None:
    stored = {name: value for name, value in to_json(REWARDED).items() if name != "dismissed"}
    assert from_json("rewarded", "r", stored) == REWARDED


def test_stored_events_keep_the_names_of_their_fields() -> None:
    stored = to_json(ANSWERED)
    assert (stored["said"], stored["told"]) == ("now", (0.9, 0.1))
    assert stored.keys() == {
        "author", "trusted", "feature", "value", "predicted", "loss", "signs", "vector", "values",
        "said", "told",
    }  # fmt: skip


DAMAGED: list[tuple[Event, str, Any]] = [
    (REWARDED, "dismissed", 1),
    (ANSWERED, "author", ""),
    (ANSWERED, "author", None),
    (ANSWERED, "trusted", "yes"),
    (ANSWERED, "feature", ""),
    (ANSWERED, "value", 3),
    (ANSWERED, "loss", 1.5),
    (ANSWERED, "loss", NAN),
    (ANSWERED, "loss", True),
    (ANSWERED, "signs", [1.0, 0.2]),
    (ANSWERED, "signs", [1.0, 0.2, 0.1, NAN, -0.4, 1.0]),
    (ANSWERED, "signs", "123456"),
    (ANSWERED, "values", "now"),
    (ANSWERED, "values", ["now", None]),
    (ANSWERED, "said", None),
    (ANSWERED, "told", [2.0, -1.0]),
    (ANSWERED, "vector", [[1, 2], [0.5]]),
    (ANSWERED, "vector", [[2, 1], [0.5, 0.5]]),
    (ANSWERED, "vector", [[1, 1], [0.5, 0.5]]),
    (ANSWERED, "vector", [[-1], [0.5]]),
    (ANSWERED, "vector", [[PLACES], [0.5]]),
    (ANSWERED, "vector", [[10**12], [0.5]]),
    (ANSWERED, "vector", [[1], [NAN]]),
    (ANSWERED, "vector", [[1], ["much"]]),
    (ANSWERED, "vector", [[[1]], [[0.5]]]),
    (ANSWERED, "vector", None),
    (REWARDED, "value", -0.1),
    (REWARDED, "value", "1"),
    (REWARDED, "shown", [["mood", 1.5]]),
    (REWARDED, "shown", [["mood", NAN]]),
    (REWARDED, "shown", [["mood"]]),
    (REWARDED, "shown", [["mood", 0.5], ["mood", 0.5]]),
    (REWARDED, "shown", ["mood"]),
    (REWARDED, "signal", ""),
    (NAMED, "named", None),
    (NAMED, "named", "budget"),
    (NAMED, "shown", []),
    (NAMED, "shown", [["mood", 0.5], ["mood", 0.5]]),
    (NAMED, "author", ""),
    (NAMED, "trusted", 1),
    (EXPECTED, "prior", 2),
    (EXPECTED, "prior", NAN),
    (Withdrawn("w", "a"), "about", ""),
    (Restored("s", "a"), "about", None),
    (Frozen("f", True), "on", 1),
]


@all_cases(("event", "field", "damaged"), DAMAGED)
def test_what_cannot_be_is_refused_by_the_events_name(
    event: Event, field: str, damaged: Any
) -> None:
    raw = {**to_json(event), field: damaged}
    with pytest.raises(InvalidInput, match=f"Event {event.id} cannot be read"):
        from_json(kind_of(event), event.id, raw)


@pytest.mark.parametrize("raw", [{}, {"about": "a", "why": "?"}, {"to": "a"}])
def test_missing_and_unknown_fields_are_refused(raw: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="Event w cannot be read"):
        from_json("withdrawn", "w", raw)


def test_a_kind_that_is_not_known_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no event of the kind 'praised'"):
        from_json("praised", "p", {})
