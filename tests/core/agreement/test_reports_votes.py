"""What each further label buys: votes of one, three, five labels on the same items."""

import pytest

from labelhub.core.agreement.reports.against import against
from labelhub.core.agreement.reports.pooled import Pooled
from labelhub.core.agreement.reports.sheet import Sheet
from tests.core.agreement.sheets import sheet

ITEMS = 12
#: Of each item the first three of four are right, and c is not: 3 of 4 labels.
CROWD = {f"crowd:{name}": [0] * ITEMS for name in "abd"} | {"crowd:c": [1] * ITEMS}


def told(given: Sheet) -> list[tuple[int, float | None, int]]:
    found = against(given, "crowd", given.gold, Pooled(given)).to_json()["by_votes"]
    return [(one["votes"], one["accuracy"]["value"], one["accuracy"]["n"]) for one in found]


def test_every_choice_of_labels_is_as_likely() -> None:
    found = told(sheet(CROWD, gold=[0] * ITEMS))

    assert found == [(1, pytest.approx(0.75), ITEMS), (3, 1, ITEMS)]


@pytest.mark.parametrize(
    "said", [{"crowd:a": [0] * ITEMS, "crowd:b": [1] * ITEMS}, {"crowd:a": [0] * 3}]
)
def test_nothing_is_told_of_fewer_than_three_labels(said: dict[str, list[int]]) -> None:
    size = len(said["crowd:a"])

    assert told(sheet(said, gold=[0] * size)) == []
