"""Paper 001, figure 3: vote, discussion, upper bound. ``figure_001_3.py DISCUSSION.jsonl …``

Upper bound: some first label is right. The gap is the upper bound less the discussion.
"""

import pandas as pd
from discussion import majorities, opinions
from exports import arguments, mean_by_item, model_names, read_debates, show

if __name__ == "__main__":
    rows = []
    for debates in map(read_debates, arguments(1)):
        stood = opinions(debates)
        first = stood[stood["round"] == 0]
        right = pd.DataFrame(
            {
                "CoT MV": majorities(first)["right"],
                "Discussion": debates["right"],
                "Upper bound": first.groupby("debate")["right"].any(),
            }
        )
        row = {"Models": model_names(debates)[0]}
        row |= {f"{name} %": mean_by_item(debates["item"], right[name]) for name in right}
        gap = 100 * (right["Upper bound"].mean() - right["Discussion"].mean())
        rows.append(row | {"Gap": round(gap, 1)})
    show(rows)
