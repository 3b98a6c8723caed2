"""The tables that papers print: accuracy, agreement, cost and time by kind of annotator.

They are tables 1, 2 and 4 of "Authors Should Label Their Own Documents". All numbers are those of a
report; only the cost of an item is derived. Files are English.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
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
    "alpha_ordinal": "Krippendorff's ordinal alpha",
    "alpha_masi": "Krippendorff's alpha, MASI distance",
    "alpha_token_f1": "Krippendorff's alpha, shared words",
    "s_q": "S_q",
    "usd_per_label": "cost of a label, USD",
    "usd_per_item": "cost of an item, USD",
    "seconds_per_label": "time of a label, s",
    "seconds_per_item": "time of an item, s",
}


def _accuracy(report: Report, reference: str) -> list[Row]:
    measures = ("accuracy", "majority_accuracy", TASKS[report["task"]].truth_measure)
    rows = []
    for kind, found in _scores(report, reference):
        row = _source(report, kind) | {
            "reference": reference,
            # Authors are not listed one by one.
            "annotators": len(found.get("annotators", ())) or None,
            **{name: found.get(name, 0) for name in ("items", "labels", "own_decisions")},
        }
        missing = undefined(found["accuracy"].get("reason", NOT_HERE["reason"]))
        rows += [
            row | _measured(measure, found.get(measure, missing))
            for measure in dict.fromkeys((*measures, "js_divergence"))
        ]
    return rows


def _agreeing(report: Report, reference: str) -> list[Row]:
    rows = []
    for kind, found in _scores(report, reference):
        missing = undefined(NO_PAIR) if found.get("items") else found["accuracy"]
        nothing: list[Row] = [{"agreeing": None, "items": 0, "accuracy": missing}]
        rows += [
            _source(report, kind)
            | {
                "reference": reference,
                "agreeing": group["agreeing"],
                "items": group["items"],
                **_measured("majority_accuracy", group["accuracy"]),
            }
            for group in found.get("by_agreeing") or nothing
        ]
    return rows


def _agreement(report: Report, _reference: str) -> list[Row]:
    between = TASKS[report["task"]].pair_coefficient
    pairs = [pair for pair in report["between"] if pair["level"] == "kind"]
    return [
        *(
            _source(report, kind, kind) | _measured(measure, figures[measure])
            for kind, figures in report["within"].items()
            for measure in dict.fromkeys(("percent", "conger_kappa", main_coefficient(report)))
        ),
        *(
            _source(report, pair["a"], pair["b"])
            | _measured(measure, pair.get(measure, undefined(NO_SHARED_ITEMS)))
            for pair in pairs
            for measure in dict.fromkeys(("percent", "cohen_kappa", between))
        ),
    ]


def _cost(report: Report, _reference: str) -> list[Row]:
    rows = []
    missing = undefined(WHOLE_PROJECT if report["slice"] else NOT_RECORDED)
    for kind, counts in report["sources"].items():
        per_item = counts["labels"] / counts["items"] if counts["items"] else None
        row = _source(report, kind) | {"labels_per_item": per_item}
        for name, unit in (("per_label", "usd"), ("seconds", "seconds")):
            label = report["cost"].get(kind, {}).get(name, missing)
            item = scale_figure(label, per_item) if per_item else undefined(NO_LABELS)
            if item["value"] is not None:
                item = {**item, "method": f"labels of an item times {item['method']}"}
            rows += [row | _measured(f"{unit}_per_label", label)]
            rows += [row | _measured(f"{unit}_per_item", item)]
    return rows


@dataclass(frozen=True, slots=True)
class Table:
    """``names``: what rows have of ``NAMES``; ``heads``: the heads of those that LaTeX prints;
    ``counted``: what n is; ``value``: the head of the figures."""

    title: str
    counted: str
    names: Collection[str]
    heads: Mapping[str, str]
    rows: Callable[[Report, str], list[Row]]
    value: str = "Estimate"


TABLES: Mapping[str, Table] = {
    "accuracy": Table(
        "Accuracy by kind of annotator",
        "n: items for majority votes, where tied answers share the weight of an item, otherwise "
        "labels. JS: the Jensen–Shannon divergence between the distributions of the answers",
        {"kind", "source", "reference", "annotators", "items", "labels", "own_decisions"},
        {"source": "Source", "annotators": "Annotators", "measure": "Measure"},
        _accuracy,
    ),
    "agreeing": Table(
        "Accuracy by the number of labels of an item that agree",
        "Accuracy is that of majority votes; tied answers share the weight of an item. n: items "
        "with two labels or more of the kind",
        {"kind", "source", "reference", "items", "agreeing"},
        {"source": "Source", "agreeing": "Agreeing"},
        _agreeing,
        "Accuracy, %",
    ),
    "agreement": Table(
        "Agreement within and between kinds of annotators",
        "n: items with two labels or more of the kind, between kinds with labels of both. "
        "Conger's kappa is Cohen's for several annotators",
        {"kind", "other_kind", "source"},
        {"source": "Source", "measure": "Measure"},
        _agreement,
    ),
    "cost": Table(
        "Cost and time by kind of annotator",
        "n: labels",
        {"kind", "source", "labels_per_item"},
        {"source": "Source", "measure": "Measure"},
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
        # Without labels one row says so.
        empty = dict.fromkeys(NAMES) | _cells(undefined(NO_LABELS))
        kept = [key for key in NAMES if key in {"table", *table.names, "measure"}]
        rows = [
            {key: ({**row, "table": name})[key] for key in (*kept, *FIGURE)}
            for row in table.rows(report, reference) or [empty]
        ]
        methods = [(row["method"] or "").removesuffix(f"; {scope}") for row in rows]
        shown = "; ".join(dict.fromkeys(filter(None, methods)))
        parts = [
            table.title,
            f"Reference: {truth_name(reference)}" if "reference" in table.names else "",
            part_words(report, who),
            f"{report['items']:,} items with labels",
            f"Without models' labels of {report['withheld']:,} of them"
            if report.get("withheld")
            else "",
            table.counted,
            f"Intervals are 95 %, {scope}: {shown}" if shown else "",
        ]
        found[name] = {"caption": " ".join(f"{part}." for part in parts if part), "rows": rows}
    return found


def csv_file(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """All rows below each other; a column that a table does not have is empty in its rows."""
    rows = [row for table in tables.values() for row in table["rows"]]
    used = {name for row in rows for name in row}
    columns = [name for name in (*NAMES, *FIGURE) if name in used]
    return csv_text(columns, [[row.get(name) for name in columns] for row in rows])


def latex_file(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Floating tables for the package booktabs; reasons and doubts are notes below them."""
    head = "% Needs \\usepackage{booktabs}. Letters beyond Latin need XeLaTeX or LuaLaTeX."
    parts = [_latex(name, table["rows"], table["caption"]) for name, table in tables.items()]
    return "\n\n".join((head, *parts)) + "\n"


def _latex(name: str, rows: Sequence[Row], caption: str) -> str:
    table = TABLES[name]
    notes: dict[str, str] = {}
    lines, source = [], None
    for row in rows:
        if source not in (None, row["source"]):
            lines.append(r"\addlinespace")
        cells = [_cell(row, column) for column in table.heads]
        if source == row["source"]:
            cells[:-1] = [""] * (len(cells) - 1)
        marks = [notes.setdefault(note, ascii_letters[len(notes)]) for note in _notes(row)]
        mark = rf"\textsuperscript{{{','.join(marks)}}}" if marks else ""
        numbers = [_number(row["measure"], row[field]) for field in ("value", "low", "high")]
        interval = "--" if row["low"] is None else f"{numbers[1]}--{numbers[2]}"
        n = "--" if row["n"] is None else f"{row['n']:,}"
        lines.append(" & ".join((*cells, numbers[0] + mark, interval, n)) + r" \\")
        source = row["source"]
    heads = (*table.heads.values(), table.value, "95 % CI", "n")
    align = "".join("l" if column in ("source", "measure") else "r" for column in table.heads)
    below = [
        rf"\textsuperscript{{{letter}}}~{escape_latex(note)}" for note, letter in notes.items()
    ]
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering\small\setlength{\tabcolsep}{4pt}",
            rf"\caption{{{escape_latex(caption)}}}",
            rf"\label{{tab:{name}}}",
            rf"\begin{{tabular}}{{{align}rrr}}",
            r"\toprule",
            " & ".join(map(escape_latex, heads)) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            *([r"\par\smallskip\footnotesize", " ".join(below)] if below else ()),
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


def _measured(measure: str, figure: Mapping[str, Any]) -> Row:
    return {"measure": measure, **_cells(figure)}


def _cells(figure: Mapping[str, Any]) -> Row:
    reason = figure.get("reason")
    words = WORDS.get(reason, reason) if reason else None
    return {**figure_row(figure), "reason": words, "doubt": figure.get("doubt")}


def _notes(row: Row) -> list[str]:
    doubts = (row["doubt"] or "").split("; ")
    found = [row["reason"] or "", *map(without_code, doubts)]
    if own := row.get("own_decisions"):
        found.append(f"{own:,} of the {row['items']:,} decisions are its own")
    return [f"{capfirst(note).rstrip('.')}." for note in found if note]


def _cell(row: Row, column: str) -> str:
    shown = row[column]
    if shown is None:
        return "--"
    if column == "measure":
        return escape_latex(MEASURES.get(shown, shown.replace("_", " ")))
    return "none" if column == "agreeing" and not shown else escape_latex(str(shown))


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
