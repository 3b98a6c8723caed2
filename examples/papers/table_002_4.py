"""Paper 002, table 4: ambiguous and normal items. ``table_002_4.py VOTE.jsonl RUN.jsonl …``"""

from courtroom import kinds_of, parts_of
from exports import arguments, mean_by_item, read_debates, show

if __name__ == "__main__":
    runs = list(map(read_debates, arguments(2)))
    kinds = kinds_of(runs[0])
    rows = [{"Run": "Share of items", **kinds.value_counts(normalize=True).round(3)}]
    for run in runs:
        parts = parts_of(run, kinds)
        cells = {name: mean_by_item(part["item"], part["right"]) for name, part in parts.items()}
        rows.append({"Run": run["file"].iloc[0], **cells})
    show(rows)
