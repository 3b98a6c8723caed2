"""Paper 002, figure 7: each judge in sequence against the one before.

``figure_002_7.py VOTE.jsonl COURTROOM.jsonl``, a courtroom run with ``deliberation=sequential``. A
judge reads the opinions of those before, so that agreement rises by construction.
"""

import pandas as pd
from courtroom import kinds_of, parts_of
from exports import arguments, mean_by_item, read_debates, show

if __name__ == "__main__":
    vote, trial = map(read_debates, arguments(2))
    rows = []
    for name, part in parts_of(trial, kinds_of(vote)).items():
        row = {"Items": name}
        verdicts = pd.DataFrame(
            dict(enumerate(signals.get("verdicts") or [], start=1)) for signals in part["signals"]
        ).set_index(part["item"])
        for judge in range(2, verdicts.shape[1] + 1):
            both = verdicts[[judge - 1, judge]].dropna()
            same = both[judge - 1] == both[judge]
            row[f"{judge - 1}-{judge} %"] = mean_by_item(both.index, same)
        rows.append(row)
    show(rows)
