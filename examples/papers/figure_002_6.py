"""Paper 002, figure 6: agreement of parallel judges. ``figure_002_6.py VOTE.jsonl COURTROOM.jsonl``

Beside the paper's rate (pairs of judges with the same verdict) stands Fleiss' kappa.
"""

from itertools import combinations

import pandas as pd
from courtroom import kinds_of, parts_of
from discussion import fleiss_kappa
from exports import arguments, mean_by_item, read_debates, show

if __name__ == "__main__":
    vote, trial = map(read_debates, arguments(2))
    rows = []
    for name, part in parts_of(trial, kinds_of(vote)).items():
        verdicts = [signals.get("verdicts") or [] for signals in part["signals"]]
        pairs = pd.DataFrame(
            [
                (item, first == other)
                for item, found in zip(part["item"], verdicts, strict=True)
                for first, other in combinations(filter(None, found), 2)
            ],
            columns=["item", "same"],
        )
        votes = pd.DataFrame([pd.Series(found).value_counts() for found in verdicts]).fillna(0)
        rate = mean_by_item(pairs["item"], pairs["same"])
        kappa = round(fleiss_kappa(votes), 3)
        rows.append({"Items": name, "Agreement %": rate, "Fleiss kappa": kappa})
    show(rows)
