"""Paper 000: metrics and counts of one label, computed for each pass and averaged."""

import pandas as pd


def holds(value: object, label: str) -> bool:
    """Whether a value says that the label applies."""
    return label in value if isinstance(value, tuple) else value == label


def label_row(debates: pd.DataFrame, label: str) -> dict[str, object]:
    """Accuracy, precision, recall, F1 and the four counts of ``label``.

    A pass without a usable answer is wrong, and a miss where gold has the label.
    """
    frame = debates.assign(
        predicted=[holds(value, label) for value in debates["value"]],
        actual=[holds(gold, label) for gold in debates["gold"]],
        read=debates["value"].notna(),
    )
    passes = []
    for _, group in frame.groupby("replicate"):
        tp = (group.predicted & group.actual).sum()
        fp = (group.predicted & ~group.actual).sum()
        fn = (~group.predicted & group.actual).sum()
        tn = (~group.predicted & ~group.actual & group.read).sum()
        precision = tp / (tp + fp) if tp + fp else float("nan")
        recall = tp / (tp + fn) if tp + fn else float("nan")
        passes.append(
            {
                "Accuracy": (tp + tn) / len(group),
                "Precision": precision,
                "Recall": recall,
                "F1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else float("nan"),
                "TP": tp, "FP": fp, "FN": fn, "TN": tn,
            }
        )  # fmt: skip
    return pd.DataFrame(passes).mean().round(4).to_dict()
