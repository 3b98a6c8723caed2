"""Paper 002, section 4.2: an item is ambiguous if its parallel answers lead by at most theta."""

import pandas as pd

THETA = 0.5


def kinds_of(votes: pd.DataFrame) -> pd.Series:
    """Item → ``ambiguous`` or ``normal``, by the D_rate of a ``vote`` run."""
    lead = pd.Series([signals.get("d_rate") for signals in votes["signals"]], index=votes["item"])
    return (lead.groupby(level=0).mean() <= THETA).map({True: "ambiguous", False: "normal"})


def parts_of(run: pd.DataFrame, kinds: pd.Series) -> dict[str, pd.DataFrame]:
    """The run's debates about all items, about ambiguous and about normal ones."""
    kind = run["item"].map(kinds)
    return {"All": run, **{name: run[kind == name] for name in ("ambiguous", "normal")}}
