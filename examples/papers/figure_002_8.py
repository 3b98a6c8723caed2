"""Paper 002, figure 8: what a trial changes. ``figure_002_8.py COURTROOM.jsonl …``"""

import pandas as pd
from exports import arguments, mean_by_item, read_debates, show

if __name__ == "__main__":
    rows = []
    for run in map(read_debates, arguments(1)):
        first = pd.Series([signals.get("first") for signals in run["signals"]], index=run.index)
        before, after = first == run["gold"], run["right"]
        changed = first != run["value"]
        shares = {
            "Changed": changed,
            "wrong to right": ~before & after,
            "right to wrong": before & ~after,
            "wrong to wrong": ~before & ~after & changed,
        }
        cells = {f"{name} %": mean_by_item(run["item"], hit) for name, hit in shares.items()}
        rows.append({"Run": run["file"].iloc[0], **cells})
    show(rows)
