"""Paper 004: labels of ``export_labels SLUG --format csv_long`` beside the authors' own."""

import pandas as pd


def read_labels(path: str) -> pd.DataFrame:
    """One row per label about an item that its author answered, with the author's label beside it.
    Unsure annotations have no label and are left out.

    Columns: those of the file and ``author``; the authors' own rows are left out.
    """
    labels = pd.read_csv(path, dtype={"item_id": str, "label": str}).dropna(subset="label")
    own = labels["annotator_type"] == "author"
    author = labels[own].drop_duplicates("item_id").set_index("item_id")["label"]
    others = labels[~own].assign(author=labels["item_id"].map(author))
    if own.sum() == 0 or others["author"].isna().all():
        raise SystemExit(f"{path}: nobody else labelled an item that its author answered.")
    return others.dropna(subset="author")
