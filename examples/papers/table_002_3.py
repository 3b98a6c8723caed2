"""Paper 002, table 3: accuracy by structure and number of examples. ``table_002_3.py RUN.jsonl …``

Runs of ``single``, ``vote`` and ``courtroom``; each file is a row, named by the file.
"""

from exports import arguments, mean_by_item, read_debates, show

if __name__ == "__main__":
    rows = []
    for run in map(read_debates, arguments(1)):
        signals = run["signals"].iloc[0]
        makers = len(signals.get("verdicts") or signals.get("values") or [None])
        row = {"Run": run["file"].iloc[0], "Decision makers": makers}
        row["Precedents"] = signals.get("precedents", 0)
        rows.append(row | {"Accuracy %": mean_by_item(run["item"], run["right"])})
    show(rows)
