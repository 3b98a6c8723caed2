"""Paper 001: what each annotator of a discussion stood by after each round."""

from collections import Counter

import pandas as pd
from exports import hashable, is_right


def opinions(debates: pd.DataFrame) -> pd.DataFrame:
    """One row per debate, round and annotator: debate, item, round, agent, value, gold, right.

    An item that is settled early keeps its last opinions in all later rounds (``held`` is False).
    """
    rounds = range(max(len(signals["rounds"]) for signals in debates["signals"]))
    frame = pd.DataFrame(
        {
            "debate": debate.Index,
            "item": debate.item,
            "round": number,
            "agent": agent,
            "value": hashable(value),
            "gold": debate.gold,
            "held": number < len(debate.signals["rounds"]),
        }
        for debate in debates.itertuples()
        for number in rounds
        for agent, value in (debate.signals["rounds"][: number + 1])[-1].items()
    )
    return frame.assign(right=is_right(frame["value"], frame["gold"]))


def majorities(stood: pd.DataFrame) -> pd.DataFrame:
    """One row per debate of one round's opinions: item, value, gold, right; a tie is no value."""
    frame = stood.groupby("debate").agg(
        item=("item", "first"), value=("value", majority), gold=("gold", "first")
    )
    return frame.assign(right=is_right(frame["value"], frame["gold"]))


def majority(values: pd.Series) -> object:
    """What most say; None for a tie."""
    ranked = Counter(value for value in values if value is not None).most_common(2)
    tied = len(ranked) == 2 and ranked[0][1] == ranked[1][1]
    return None if tied or not ranked else ranked[0][0]


def fleiss_kappa(votes: pd.DataFrame) -> float:
    """Fleiss' kappa of a table of items by categories with unequal numbers of raters.

    Items with fewer than two votes say nothing about agreement and are left out.
    """
    counts = votes[votes.sum(axis=1) > 1].to_numpy(dtype=float)
    if not len(counts):
        return float("nan")
    raters = counts.sum(axis=1)
    observed = ((counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))).mean()
    expected = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)
