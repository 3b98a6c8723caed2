"""Real texts whose authors said what they meant are read as they are and replayed.

What comes of it is told in docs/echo.md, whatever it is; nothing here asks for a gain.
"""

from pathlib import Path

import numpy as np
import pytest

from labelhub.core.echo.replay.labelled_texts import Columns, Labelled, read_labelled
from labelhub.core.echo.replay.report import ARMS, Order, play
from tests.cases import all_cases

DATA = Path(__file__).resolve().parents[5] / "shared" / "data"
VALENCE = Columns(label="writer_perspective_ratings_VAD.*.0", bands=3)
AROUSAL = Columns(label="writer_perspective_ratings_VAD.*.1", bands=3)
SETS = [
    ("enisear_author", Columns(label="author_emotion"), 299, 7),
    ("isarcasm_author", Columns(label="author_label"), 600, 2),
    ("emobank_writer_reader", VALENCE, 386, 3),
    ("emobank_writer_reader", AROUSAL, 386, 3),
]


def real(name: str, columns: Columns) -> Labelled:
    """The texts of a data set; skips the test without it."""
    path = DATA / f"{name}.jsonl"
    if not path.exists():
        pytest.skip(f"needs ../shared/data/{name}.jsonl, which is not here")
    return read_labelled(path.read_bytes(), columns)


@pytest.mark.parametrize(("name", "columns", "texts", "values"), SETS)
def test_real_sets_are_read_whole(name: str, columns: Columns, texts: int, values: int) -> None:
    found = real(name, columns)
    assert (len(found.texts), len(found.values)) == (texts, values)
    assert min(found.shares.values()) > 0.1


@pytest.mark.thorough
@all_cases("arm", ARMS)
@all_cases(("name", "columns", "texts", "values"), SETS)
def test_real_texts_are_replayed_within_the_share(
    name: str, columns: Columns, texts: int, values: int, arm: str
) -> None:
    trace = play(real(name, columns), Order(0), arm)
    assert 0 < trace.put.sum() <= (texts - texts // 5) / 3
    assert np.isfinite(trace.log_loss).all()
    # Never far worse than knowing nothing but how many values there are.
    assert trace.log_loss.max() < np.log(values) + 0.5
