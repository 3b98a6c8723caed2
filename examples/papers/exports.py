"""What the scripts share: an export read into pandas, and an interval for a mean over items."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest


def arguments(least: int) -> list[str]:
    """What the script was called with; with fewer than ``least`` it says how it is called."""
    if len(sys.argv) <= least:
        raise SystemExit(sys.modules["__main__"].__doc__ or "Name the files.")
    return sys.argv[1:]


def read_debates(path: str) -> pd.DataFrame:
    """One row per finished debate of an ``export_debates`` file.

    Columns: item, replicate, value, gold, right, signals (a dict), models (role → model), file.
    A debate without a usable answer has no value and is wrong; failed ones are left out.
    """
    try:
        frame = pd.DataFrame(
            {
                "item": row["item_external_id"],
                "replicate": row["replicate"],
                "value": hashable(row["value"]),
                "gold": hashable(row["gold"]),
                "signals": row["signals"],
                "models": {turn["role"]: turn["model"] for turn in row["turns"]},
                "file": Path(path).stem,
            }
            for row in map(json.loads, Path(path).read_text(encoding="utf-8").splitlines())
            if row["status"] in {"done", "unparsed"} and row["gold"] is not None
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path}: not a file of export_debates ({error!r}).") from error
    if frame.empty:
        raise SystemExit(f"{path}: no finished debate about an item with gold.")
    return frame.assign(right=is_right(frame["value"], frame["gold"]))


def hashable(value: object) -> object:
    """A set of labels, a list in JSON, as a tuple."""
    return tuple(value) if isinstance(value, list) else value


def is_right(values: pd.Series, golds: pd.Series) -> list[bool]:
    """Whether each value is the gold beside it; no value is wrong."""
    return [value is not None and value == gold for value, gold in zip(values, golds, strict=True)]


def model_names(debates: pd.DataFrame, *roles: str) -> list[str]:
    """The model of each role; without roles all models joined by a plus sign."""
    models = debates["models"].iloc[0]
    return [models.get(role, "") for role in roles] or [" + ".join(dict.fromkeys(models.values()))]


def mean_by_item(items: pd.Series | pd.Index, values: pd.Series, draws: int = 2000) -> str:
    """The mean as ``percent [low, high]``, a 95 % bootstrap over items with all their passes.

    Where all are alike, draws are too: Wilson's interval says how sure as many items make it.
    """
    if values.empty:
        return ""
    sums = pd.Series(np.asarray(values, dtype=float)).groupby(np.asarray(items))
    part, whole = sums.sum().to_numpy(), sums.count().to_numpy()
    drawn = np.random.default_rng(0).integers(len(part), size=(draws, len(part)))
    if part.sum() in {0, whole.sum()}:
        k = len(part) if part.any() else 0
        low, high = binomtest(k, len(part)).proportion_ci(method="wilson")
        return f"{100 * bool(k)}.0 [{100 * low:.1f}, {100 * high:.1f}]"
    low, high = np.quantile(part[drawn].sum(axis=1) / whole[drawn].sum(axis=1), [0.025, 0.975])
    return f"{100 * part.sum() / whole.sum():.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def show(rows: list[dict[str, object]]) -> None:
    """Print the table as CSV."""
    print(pd.DataFrame(rows).to_csv(index=False), end="")
