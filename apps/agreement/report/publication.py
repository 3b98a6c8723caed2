"""The tables that papers print: accuracy, agreement, cost and time by kind of annotator.

They are tables 1, 2 and 4 of "Authors Should Label Their Own Documents". All numbers are those of a
report; only the cost of an item is derived. Files are English.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from string import ascii_letters
from typing import Any

from django.utils.text import capfirst

from apps.agreement.charts import is_share, scale_figure
from apps.agreement.report.tables import NOT_HERE, main_coefficient
from apps.agreement.report.truths import (
    Report,
    part_words,
    short_name,
    truth_name,
    truths_of,
)
from apps.common.charts.text import on_one_line
from apps.common.figures import figure_row
from apps.common.methods import without_code
from apps.common.spreadsheets import csv_text
from labelhub.core.agreement.figures import undefined
from labelhub.core.agreement.reports.reasons import (
    NO_AUTHOR,
    NO_GOLD,
    NO_LABELS,
    NO_PAIR,
    NO_SHARED_ITEMS,
    NOT_RECORDED,
    WHOLE_PROJECT,
    WORDS,
)
from labelhub.core.schema import TASKS

Row = dict[str, Any]
#: What names a row, its measure and its figure.
Entry = tuple[Row, str | None, Mapping[str, Any]]
REFERENCES = {"author": NO_AUTHOR, "gold": NO_GOLD}
#: The columns that name a row, in their order, and the fields of its figure.
NAMES = (
    "table", "kind", "other_kind", "source", "reference", "annotators", "items", "labels",
    "own_decisions", "agreeing", "labels_per_item", "measure",
)  # fmt: skip
FIGURE = ("value", "low", "high", "n", "method", "reason", "doubt")

MEASURES = {
    "accuracy": "accuracy of labels, %",
    "majority_accuracy": "majority-vote accuracy, %",
    "token_f1": "shared words, F1",
    "js_divergence": "JS divergence, bits",
    "percent": "observed agreement, %",
    "cohen_kappa": "Cohen's kappa",
    "conger_kappa": "Conger's kappa",
    "alpha_nominal": "Krippendorff's alpha",
    "alpha_ordinal": "ordinal alpha",
    "alpha_masi": "alpha, MASI distance",
    "alpha_token_f1": "alpha, shared words",
    "s_q": "S_q",
    "usd_per_label": "cost of a label, USD",
    "usd_per_item": "cost of an item, USD",
    "seconds_per_label": "time of a label, s",
    "seconds_per_item": "time of an item, s",
}


def _accuracy(report: Report, reference: str) -> Iterator[Entry]:
    measures = ("accuracy", "majority_accuracy", TASKS[report["task"]].truth_measure)
    for kind, found in _scores(report, reference):
        names = _source(report, kind) | {
            "reference": reference,
            # Authors are not listed one by one.
            "annotators": len(found.get("annotators", ())) or None,
            **{name: found.get(name, 0) for name in ("items", "labels", "own_decisions")},
        }
        missing = undefined(found["accuracy"].get("reason", NOT_HERE["reason"]))
        for measure in dict.fromkeys((*measures, "js_divergence")):
            yield names, measure, found.get(measure, missing)


def _agreeing(report: Report, reference: str) -> Iterator[Entry]:
    for kind, found in _scores(report, reference):
        missing = undefined(NO_PAIR) if found.get("items") else found["accuracy"]
        groups: list[Row] = [{"agreeing": None, "items": 0, "accuracy": missing}]
        if found.get("by_agreeing"):
            whole = {"items": found["items"], "accuracy": found["majority_accuracy"]}
            groups = [*found["by_agreeing"], {"agreeing": "all", **whole}]
        names = _source(report, kind) | {"reference": reference}
        for group in groups:
            numbers = {name: group[name] for name in ("agreeing", "items")}
            yield names | numbers, "majority_accuracy", group["accuracy"]


def _agreement(report: Report, _reference: str) -> Iterator[Entry]:
    for kind, figures in report["within"].items():
        for measure in dict.fromkeys(("percent", "conger_kappa", main_coefficient(report))):
            yield _source(report, kind, kind), measure, figures[measure]
    between = TASKS[report["task"]].pair_coefficient
    for pair in report["between"]:
        if pair["level"] == "kind":
            names = _source(report, pair["a"], pair["b"])
            for measure in dict.fromkeys(("percent", "cohen_kappa", between)):
                yield names, measure, pair.get(measure, undefined(NO_SHARED_ITEMS))


def _cost(report: Report, _reference: str) -> Iterator[Entry]:
    missing = undefined(WHOLE_PROJECT if report["slice"] else NOT_RECORDED)
    for kind, counts in report["sources"].items():
        per_item = counts["labels"] / counts["items"] if counts["items"] else None
        names = _source(report, kind) | {"labels_per_item": per_item}
        for name, unit in (("per_label", "usd"), ("seconds", "seconds")):
            label = report["cost"].get(kind, {}).get(name, missing)
            item = scale_figure(label, per_item) if per_item else undefined(NO_LABELS)
            if item["value"] is not None:
                item = {**item, "method": f"labels of an item times {item['method']}"}
            yield names, f"{unit}_per_label", label
            yield names, f"{unit}_per_item", item


@dataclass(frozen=True, slots=True)
class Table:
    """``names``: what rows have of ``NAMES``; ``counted``: what n is; ``first``: the column that
    names the rows of a source in LaTeX; ``heads``: that of this column and of the figures."""

    title: str
    counted: str
    names: Collection[str]
    entries: Callable[[Report, str], Iterable[Entry]]
    first: str = "measure"
    heads: tuple[str, str] = ("Measure", "Estimate")


TABLES: Mapping[str, Table] = {
    "accuracy": Table(
        "Accuracy by kind of annotator",
        "n: items for majority votes, where tied answers share the weight of an item, otherwise "
        "labels. JS: the Jensen–Shannon divergence between the distributions of the answers",
        {"kind", "source", "reference", "annotators", "items", "labels", "own_decisions"},
        _accuracy,
    ),
    "agreeing": Table(
        "Accuracy by the number of labels of an item that agree",
        "Accuracy is that of majority votes; tied answers share the weight of an item. n: items "
        "with two labels or more of the kind; in a row of all: its items with any label",
        {"kind", "source", "reference", "items", "agreeing"},
        _agreeing,
        first="agreeing",
        heads=("Agreeing", "Accuracy, %"),
    ),
    "agreement": Table(
        "Agreement within and between kinds of annotators",
        "n: items with two labels or more of the kind, between kinds with labels of both. "
        "Conger's kappa is Cohen's for several annotators; alpha is Krippendorff's",
        {"kind", "other_kind", "source"},
        _agreement,
    ),
    "cost": Table(
        "Cost and time by kind of annotator",
        "n: labels",
        {"kind", "source", "labels_per_item"},
        _cost,
    ),
}


def page_reference(report: Report) -> str:
    """The reference of the page: the author if something can be measured by them, else gold."""
    return next((truth.by for truth in truths_of(report)), "gold")


def paper_tables(
    report: Report, names: Sequence[str], reference: str, who: str = ""
) -> dict[str, dict[str, Any]]:
    """The caption and the rows of each table, as in JSON.

    ``who``: the title of the only annotator, where the slice has one.
    """
    found = {}
    for_these = report.get("intervals", "these") == "these"
    scope = "for these annotators" if for_these else "for other annotators like these"
    for name in names:
        table = TABLES[name]
        kept = [key for key in NAMES if key in {"table", *table.names, "measure"}]
        # Without labels one row says so.
        entries = [*table.entries(report, reference)] or [({}, None, undefined(NO_LABELS))]
        rows = []
        for names_of_row, measure, figure in entries:
            reason = figure.get("reason")
            row = names_of_row | {"table": name, "measure": measure} | figure_row(figure)
            row["reason"] = WORDS.get(reason, reason) if reason else None
            row["doubt"] = figure.get("doubt")
            rows.append({key: row.get(key) for key in (*kept, *FIGURE)})
        methods: dict[bool, dict[str, None]] = {True: {}, False: {}}
        for row in rows:
            if method := (row["method"] or "").removesuffix(f"; {scope}"):
                methods[row["low"] is not None][method] = None
        parts = [
            table.title,
            f"Reference: {truth_name(reference)}" if "reference" in table.names else "",
            part_words(report, who),
            f"{report['items']:,} items with labels",
            f"Without models' labels of {report['withheld']:,} of them"
            if report.get("withheld")
            else "",
            table.counted,
            f"Intervals are 95 %, {scope}: {'; '.join(methods[True])}" if methods[True] else "",
            f"Without an interval: {'; '.join(methods[False])}" if methods[False] else "",
        ]
        found[name] = {"caption": " ".join(f"{part}." for part in parts if part), "rows": rows}
    return found


def csv_file(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """All rows below each other; a column that a table does not have is empty in its rows."""
    import pandas as pd  # noqa: PLC0415 - takes 60 MB and half a second, and few want tables

    parts = [pd.DataFrame(table["rows"], dtype=object) for table in tables.values()]
    rows = pd.concat(parts) if parts else pd.DataFrame()
    columns = [name for name in (*NAMES, *FIGURE) if name in rows]
    cells = rows[columns].astype(object).where(rows[columns].notna(), None)
    return csv_text(columns, cells.itertuples(index=False, name=None))


def latex_file(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Floating tables for the package booktabs; reasons and doubts are notes below them."""
    head = "% Needs \\usepackage{booktabs}. Letters beyond Latin need XeLaTeX or LuaLaTeX."
    parts = [_latex(name, table["rows"], table["caption"]) for name, table in tables.items()]
    return "\n\n".join((head, *parts)) + "\n"


def _latex(name: str, rows: Sequence[Row], caption: str) -> str:
    """Each source is a line of its own above its rows, so that the table fits a text column."""
    table = TABLES[name]
    notes: dict[str, str] = {}
    lines: list[str] = []
    for source, group in groupby(rows, lambda row: row["source"]):
        own = list(group)
        if lines:
            lines.append(r"\addlinespace")
        if source:
            words = source
            if annotators := own[0].get("annotators"):
                words += f", {annotators} annotator{'s' if annotators > 1 else ''}"
            lines.append(rf"\multicolumn{{4}}{{@{{}}l}}{{\emph{{{escape_latex(words)}}}}} \\")
        for row in own:
            marks = [notes.setdefault(note, ascii_letters[len(notes)]) for note in _notes(row)]
            value, *ends = (_number(row["measure"], row[end]) for end in ("value", "low", "high"))
            if marks:
                value += rf"\textsuperscript{{{','.join(marks)}}}"
            interval = "--" if row["low"] is None else "--".join(ends)
            n = "--" if row["n"] is None else f"{row['n']:,}"
            lines.append(" & ".join((_first_cell(row, table), value, interval, n)) + r" \\")
    heads = " & ".join(map(escape_latex, (*table.heads, "95 % CI", "n")))
    below = " ".join(
        rf"\textsuperscript{{{letter}}}~{escape_latex(note)}" for note, letter in notes.items()
    )
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering\small\setlength{\tabcolsep}{4pt}",
            rf"\caption{{{escape_latex(caption)}}}",
            rf"\label{{tab:{name}}}",
            r"\begin{tabular}{@{}lrrr@{}}",
            r"\toprule",
            rf"{heads} \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *([r"\par\smallskip\footnotesize", below] if below else ()),
            r"\end{table}",
        )
    )


_ESCAPES = str.maketrans(
    {
        **{letter: f"\\{letter}" for letter in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "`": r"\textasciigrave{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        # After the end of a row a bracket would begin its options.
        "[": "{[}",
    }
)
#: Pairs that fonts join to another sign.
_JOINED = re.compile(r"([-',])(?=\1)")


def escape_latex(text: str) -> str:
    """``text`` on one line, to be printed as it is; letters beyond ASCII stay.

    Characters that no document may have, and marks of writing direction, are left out.
    """
    plain = on_one_line(text).replace("\ufffd", "")
    return _JOINED.sub(r"\1{}", plain.translate(_ESCAPES))


def _scores(report: Report, reference: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Each kind against the reference; where it was not measured, the accuracy with the reason."""
    found = report[f"against_{reference}"]
    missing = undefined(NO_LABELS if found else REFERENCES[reference])
    kinds = [kind for kind in report["sources"] if kind != reference]
    return [(kind, found.get(kind, {"accuracy": missing})) for kind in kinds]


def _source(report: Report, kind: str, other: str = "") -> Row:
    names = [short_name(report, name) for name in dict.fromkeys((kind, other or kind))]
    return {"kind": kind, "other_kind": other, "source": "–".join(names)}


def _notes(row: Row) -> list[str]:
    doubts = (row["doubt"] or "").split("; ")
    found = [row["reason"] or "", *map(without_code, doubts)]
    if own := row.get("own_decisions"):
        found.append(f"{own:,} of the {row['items']:,} decisions are its own")
    return [f"{capfirst(note).rstrip('.')}." for note in found if note]


def _first_cell(row: Row, table: Table) -> str:
    shown = row[table.first]
    if shown is None:
        return "--"
    if table.first == "measure":
        return escape_latex(MEASURES.get(shown, shown.replace("_", " ")))
    return str(shown or "none")


def _number(measure: str | None, value: float | None) -> str:
    """Shares in per cent, coefficients with three decimals, small costs with two digits."""
    if value is None or measure is None:
        return "--"
    if is_share(measure):
        words = f"{100 * value:.1f}"
    elif measure.startswith("seconds"):
        words = f"{value:.1f}"
    elif measure.startswith("usd"):
        small = 0 < value < 0.00995
        words = f"{Decimal(f'{value:.2g}'):f}" if small else f"{value:.2f}"
    else:
        words = f"{value:.3f}"
    return f"$-${words[1:]}" if words.startswith("-") and words.strip("-0.") else words.lstrip("-")
