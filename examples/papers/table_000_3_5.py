"""Paper 000, tables 3 and 5: ECJ by one model or by several, on one label.

``table_000_3_5.py LABEL RUN.jsonl …``. In the paper FP and FN stand under each other's heading, and
the rows judged by gpt-4.1 are shifted by one column; here they are not.
"""

from ecj import label_row
from exports import arguments, model_names, read_debates, show

ROLES = ("extractor", "critic", "judge")

if __name__ == "__main__":
    label, *files = arguments(2)
    rows = []
    for run in map(read_debates, files):
        models = dict(zip(map(str.title, ROLES), model_names(run, *ROLES), strict=True))
        rows.append(models | label_row(run, label))
    show(rows)
