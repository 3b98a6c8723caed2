"""The replay bench: what it reads, and that no arm sees a label before its prediction."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.bench.echo_replay import ARMS, WINDOW, Labelled, play, read_labelled, replay
from tests.cases import all_cases

WORDS = ("bread", "bridge", "door", "garden", "kettle", "light", "market", "river", "road", "train")
TELLING = ("delighted", "furious", "weeping")


def texts_with(count: int, *, telling: bool) -> Labelled:
    """``count`` texts with random labels; if ``telling``, a word of each gives its label away."""
    draws = np.random.default_rng(0)
    labels = draws.integers(len(TELLING), size=count)
    texts = [
        " ".join([*draws.choice(WORDS, 5), f"no{number}", TELLING[label] if telling else ""])
        for number, label in enumerate(labels)
    ]
    return Labelled(texts, labels, ("joy", "anger", "sadness"))


def test_fields_paths_and_bands_are_read_and_copies_left_out(tmp_path: Path) -> None:
    rows = [{"said": f"text {n}", "by": [[n, 1], [n + 2, 1]], "label": n % 2} for n in range(6)]
    lines, table = tmp_path / "rows.jsonl", tmp_path / "rows.csv"
    lines.write_text("".join(json.dumps(row) + "\n" for row in [*rows, rows[0]]))
    table.write_text("text,label\na,yes\nb,no\n")
    assert read_labelled(lines, "said", "label").labels.tolist() == [0, 1, 0, 1, 0, 1]
    bands = read_labelled(lines, "said", "by.*.0", bands=3)
    assert (bands.labels.tolist(), bands.values) == ([0, 0, 1, 1, 2, 2], ("0", "1", "2"))
    assert read_labelled(table, "text", "label").values == ("no", "yes")


@all_cases("arm", ARMS)
def test_at_most_the_share_is_asked_and_no_label_is_seen_before_its_prediction(arm: str) -> None:
    data = texts_with(90, telling=True)
    before = play(data, arm, 4, 1 / 3)
    streamed = np.random.default_rng([4, 1]).permutation(90)[18:]
    start, end = 2 * WINDOW, 3 * WINDOW
    labels = data.labels.copy()
    labels[streamed[start:]] = (labels[streamed[start:]] + 1) % 3
    after = play(data._replace(labels=labels), arm, 4, 1 / 3)
    for last in range(WINDOW, 72, WINDOW):
        assert before.put[:last].sum() <= last / 3
    assert after.put[:end].tolist() == before.put[:end].tolist()
    assert after.right[:start].tolist() == before.right[:start].tolist()
    # The same was predicted, and the truth has changed: both cannot be right.
    assert not (after.right & before.right)[start:end].any()


@pytest.mark.thorough
@all_cases("telling", [True, False])
def test_a_word_that_tells_is_learnt_and_noise_is_not(*, telling: bool) -> None:
    found = replay(texts_with(240, telling=telling), 5, 0.33)
    assert found["asked"]["value"] == 63
    assert (found["learnt"]["low"] > 0) is telling
    assert (found["minus_commonest"]["low"] > 0.3) is telling
