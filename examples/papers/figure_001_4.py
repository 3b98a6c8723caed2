"""Paper 001, figure 4: how right and wrong labels move. ``figure_001_4.py DISCUSSION.jsonl``"""

import numpy as np
from discussion import opinions
from exports import arguments, read_debates, show

if __name__ == "__main__":
    stood = opinions(read_debates(arguments(1)[0]))
    stood["word"] = np.where(stood["right"], "right", "wrong")
    before = stood.assign(round=stood["round"] + 1)[["debate", "agent", "round", "value", "word"]]
    moves = stood[stood["held"]].merge(
        before, how="left", on=["debate", "agent", "round"], suffixes=("", "_before")
    )
    rows = []
    for (agent, number), held in moves.groupby(["agent", "round"]):
        counts = held["word"].value_counts()
        row = {"Agent": agent, "Round": number, **counts.reindex(["right", "wrong"], fill_value=0)}
        if number:
            flows = (held["word_before"] + " to " + held["word"]).value_counts()
            row |= dict(flows) | {"unchanged": (held["value"] == held["value_before"]).sum()}
        rows.append(row)
    show(rows)
