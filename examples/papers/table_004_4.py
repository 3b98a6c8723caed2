"""Paper 004, table 4: cost and time per label. ``table_004_4.py LABELS.csv [KIND=USD_PER_HOUR …]``

Seconds are the median of the labels that have a time. Cost is what was recorded, or what an hourly
pay makes of the time.
"""

import pandas as pd
from exports import arguments, show

if __name__ == "__main__":
    path, *pay = arguments(1)
    hourly = {kind: float(usd) for kind, _, usd in (part.partition("=") for part in pay)}
    rows = []
    for kind, own in pd.read_csv(path).groupby("annotator_type"):
        paid = own["seconds"] * hourly[kind] / 3600 if kind in hourly else own["cost_usd"]
        cost, seconds = round(paid.mean(), 4), own["seconds"].median()
        rows.append({"Annotation": kind, "Cost per label": cost, "Seconds per label": seconds})
    show(rows)
