"""Paper 000, table 6: one ECJ run on every label. ``table_000_6.py RUN.jsonl``"""

from ecj import label_row
from exports import arguments, read_debates, show

if __name__ == "__main__":
    debates = read_debates(arguments(1)[0])
    golds = [gold if isinstance(gold, tuple) else [gold] for gold in debates["gold"]]
    rows = []
    for label in sorted({label for gold in golds for label in gold}):
        found = label_row(debates, label)
        rows.append({"Aspect": label, "Accuracy": found["Accuracy"], "F1": found["F1"]})
    show(rows)
