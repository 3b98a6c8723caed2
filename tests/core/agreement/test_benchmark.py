"""What the benchmark measures of our own runs, and says what the statistics are known to be."""

from pathlib import Path

import pytest

from labelhub.core.agreement.aggregation import mace
from labelhub.core.agreement.estimation import MOST_ITEMS_DRAWN
from labelhub.core.agreement.ratings import Ratings
from tests.bench import agreement_data as data
from tests.bench.agreement_own import NEVER, VALUES, work_on

LABELS = (MOST_ITEMS_DRAWN + 1) * data.EACH


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> data.Ratings:
    """Ratings of more items than a report draws."""
    folder: Path = tmp_path_factory.mktemp("ratings")
    data.make(folder, LABELS)
    return data.load(folder)


def found(name: str, said: data.Ratings) -> float:
    shape = (len(said.truth), data.RATERS, data.CATEGORIES)
    work = work_on(name, Ratings(said.items, said.raters, said.codes, *shape), said)
    return work.once(5) if work.iterations else work.once()


@pytest.mark.parametrize("name", [*VALUES, "bootstrap", "pairs"])
def test_agreement_is_that_of_raters_who_know_seven_in_ten(name: str, said: data.Ratings) -> None:
    # Two of them agree beyond chance where both know: 0.7 squared.
    assert found(name, said) == pytest.approx(data.KNOWN**2, abs=0.01)


@pytest.mark.parametrize("name", ["dawid_skene", "mace"])
def test_five_raters_are_right_together(
    name: str, said: data.Ratings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The benchmark's own process sets it for good.
    monkeypatch.setattr(mace, "TOLERANCE", NEVER)
    assert found(name, said) > 0.95
