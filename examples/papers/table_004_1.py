"""Paper 004, table 1: each kind of annotator against the authors. ``table_004_1.py LABELS.csv``

Agreement is Cohen's kappa, averaged over the pairs of annotators of a kind. The divergence is from
the distribution of the authors' labels to that of the kind, in nats, with half a count for each
label.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from exports import arguments, mean_by_item, show
from labels import read_labels
from scipy.stats import entropy
from sklearn.metrics import cohen_kappa_score


def kappa_of(own: pd.DataFrame) -> float:
    """Cohen's kappa, averaged over pairs with two items in common or more."""
    wide = own.pivot_table("label", "item_id", "annotator_id", aggfunc="first")
    pairs = [wide[list(pair)].dropna() for pair in combinations(wide, 2)]
    found = [cohen_kappa_score(*pair.to_numpy().T) for pair in pairs if len(pair) > 1]
    return float(np.nanmean(found)) if found else float("nan")


if __name__ == "__main__":
    labels = read_labels(arguments(1)[0])
    names = sorted({*labels["label"], *labels["author"]})
    authors = (
        labels.drop_duplicates("item_id")["author"].value_counts().reindex(names, fill_value=0)
    )
    rows = []
    for kind, own in labels.groupby("annotator_type"):
        counts = own["label"].value_counts().reindex(names, fill_value=0)
        row = {
            "Annotation": kind,
            "Author accuracy %": mean_by_item(own["item_id"], own["label"] == own["author"]),
            "Cohen kappa": round(kappa_of(own), 3),
            "KL divergence": round(entropy(authors + 0.5, counts + 0.5), 3),
        }
        rows.append(row)
    show(rows)
