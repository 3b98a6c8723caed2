"""Paper 004, table 2: accuracy by how many agree. ``table_004_2.py LABELS.csv``

Of the items that three or more of a kind labelled: the share on which their most frequent label is
the author's, by the number who gave it. Labels that are equally frequent share the item.
"""

import pandas as pd
from exports import arguments, show
from labels import read_labels


def score(own: pd.DataFrame) -> pd.Series:
    """How many agree on an item, and whether they agree with its author."""
    modes = own["label"].mode()
    agreeing = (own["label"] == modes[0]).sum()
    return pd.Series({"Agreeing": agreeing, "right": (modes == own["author"].iloc[0]).mean()})


if __name__ == "__main__":
    labels = read_labels(arguments(1)[0])
    several = labels.groupby(["annotator_type", "item_id"]).filter(lambda own: len(own) > 2)
    if several.empty:
        raise SystemExit("No item has three labels of one kind and its author's.")
    items = several.groupby(["annotator_type", "item_id"])[["label", "author"]].apply(score)
    table = items.groupby(["annotator_type", "Agreeing"])["right"].agg(["mean", "count"])
    show(table.round(3).reset_index().to_dict("records"))
