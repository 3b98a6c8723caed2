"""Paper 001, table 1: what inference-time techniques change.

``table_001_1.py PLAIN.jsonl RUN.jsonl …``: the first file is the plain answer (``single``). Each
other one is compared with it, item by item, by the exact McNemar test with Holm's correction. The
paper tests none of these differences.
"""

import numpy as np
import pandas as pd
from exports import arguments, mean_by_item, model_names, read_debates, show
from scipy.stats import binomtest


def holm(p_values: list[float]) -> np.ndarray:
    """p-values after Holm's correction (1979), in their order."""
    order = np.argsort(p_values)
    steps = np.sort(p_values) * np.arange(len(p_values), 0, -1)
    return np.minimum(np.maximum.accumulate(steps), 1.0)[np.argsort(order)]


def won_and_lost(run: pd.DataFrame, plain: pd.DataFrame) -> tuple[int, int]:
    """Items that only the run, and that only the plain answer has right; first passes."""
    first, other = (
        frame.drop_duplicates("item").set_index("item")["right"] for frame in (run, plain)
    )
    pairs = pd.concat([first, other], axis=1, join="inner", keys=["run", "plain"])
    return int((pairs["run"] > pairs["plain"]).sum()), int((pairs["run"] < pairs["plain"]).sum())


if __name__ == "__main__":
    plain, *others = map(read_debates, arguments(2))
    changes = [won_and_lost(run, plain) for run in others]
    tests = holm([binomtest(won, max(won + lost, 1)).pvalue for won, lost in changes])
    rows = [
        {
            "Method": run["file"].iloc[0],
            "Model": model_names(run)[0],
            "Accuracy %": mean_by_item(run["item"], run["right"]),
        }
        for run in (plain, *others)
    ]
    for row, (won, lost), p in zip(rows[1:], changes, tests, strict=True):
        row |= {"Won": won, "Lost": lost, "p (Holm)": round(p, 4)}
    show(rows)
