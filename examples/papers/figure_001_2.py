"""Paper 001, figure 2: accuracy and agreement by round. ``figure_001_2.py DISCUSSION.jsonl``"""

import pandas as pd
from discussion import fleiss_kappa, majorities, opinions
from exports import arguments, mean_by_item, read_debates, show

if __name__ == "__main__":
    stood = opinions(read_debates(arguments(1)[0]))
    rows = []
    for number, held in stood.groupby("round"):
        framework = majorities(held)
        row = {"Round": number, "All %": mean_by_item(framework["item"], framework["right"])}
        for agent, own in held.groupby("agent"):
            row[f"{agent} %"] = mean_by_item(own["item"], own["right"])
        votes = pd.crosstab(held["debate"], held["value"])
        rows.append(row | {"Fleiss kappa": round(fleiss_kappa(votes), 3)})
    show(rows)
