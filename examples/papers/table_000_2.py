"""Paper 000, table 2: each model alone on one label. ``table_000_2.py LABEL RUN.jsonl …``"""

from ecj import label_row
from exports import arguments, model_names, read_debates, show

if __name__ == "__main__":
    label, *files = arguments(2)
    runs = [read_debates(file) for file in files]
    show([{"Model": model_names(run)[0], **label_row(run, label)} for run in runs])
