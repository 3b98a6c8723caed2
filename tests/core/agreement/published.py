"""Published numbers and data beside this tree (``../shared``); a test that needs them is skipped
where they are not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.ratings import Ints, Ratings

SHARED = Path(__file__).resolve().parents[4] / "shared"


def shared(*path: str) -> Path:
    """A file or folder below ``../shared``."""
    found = SHARED.joinpath(*path)
    if not found.exists():
        pytest.skip(f"the published data are not here: {found}")
    return found


def reference_cases(method: str | None = None) -> list[Any]:
    """The reference values; those of one method where it is named."""
    cases = json.loads(shared("reference", "reference_values_dev.json").read_text())["cases"]
    wanted = [case for case in cases if method in (None, case["method"])]
    assert wanted, f"no reference case has the method {method!r}"
    return wanted


def reference(name: str) -> Any:
    """The one reference case of this name."""
    return next(case for case in reference_cases() if case["id"] == name)


def crowd(name: str) -> tuple[Ratings, Ints]:
    """What a crowd said, and the gold of every item, -1 where it has none."""
    lines = shared("data", f"{name}.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    _, items = np.unique([row["item_id"] for row in rows], return_inverse=True)
    _, raters = np.unique([row["annotator_id"] for row in rows], return_inverse=True)
    number = {label: number for number, label in enumerate(sorted({row["label"] for row in rows}))}
    codes = np.array([number[row["label"]] for row in rows])
    gold = np.full(items.max() + 1, -1)
    gold[items] = [number[row["gold"]] for row in rows]
    return Ratings(items, raters, codes, len(gold), raters.max() + 1, len(number)), gold
