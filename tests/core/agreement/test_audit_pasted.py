"""Tables as pasted from LaTeX, Markdown, spreadsheets and terminals, and what is in cells."""

import contextlib
import json
import time

import pytest

from labelhub.core.agreement.audit import audit, read_table
from labelhub.core.agreement.audit.printed import parse
from labelhub.core.errors import InvalidInput

LATEX = r"""\begin{table}[t]
\centering \caption{A \& B, 100\%}
\begin{tabular}{l|rr@{\hspace{2pt}}r}
\toprule
Model & Precision & Recall & F1 \\ \midrule  % a comment & no cell
Heron & \textbf{85.0} & 80.0 & 82.4 \\
\multirow{2}{*}{Wren} & 70.0\,\% & $90.0 \pm 0.3$ & 78.8$^{\dagger}$ \\[2pt]
\bottomrule
\end{tabular}
\end{table}"""

SPACES = """\
              precision    recall  f1-score   support

     class a       0.85      0.80      0.82       100
     class b       0.70      0.90      0.79        50

    accuracy                           0.83       150
   macro avg       0.78      0.85      0.81       150
weighted avg       0.80      0.83      0.81       150
"""


def numbers(text: str, row: int = 0) -> list[float | None]:
    """The numbers of a row, without its name."""
    cells = list(read_table(text).rows[row].values())[1:]
    return [None if (number := parse(cell)) is None else number.value for cell in cells]


def test_latex_with_all_that_stands_around() -> None:
    table = read_table(LATEX)
    assert table.columns == ("Model", "Precision", "Recall", "F1")
    assert numbers(LATEX) == [85.0, 80.0, 82.4]
    assert numbers(LATEX, 1) == [70.0, 90.0, 78.8]
    assert table.rows[1]["Model"] == "Wren"


def test_rows_of_latex_without_the_table_around_them() -> None:
    assert numbers("M & P & R & F1 \\\\ \\hline\nA & 85.0 & 80.0 & 82.4 \\\\") == [85.0, 80.0, 82.4]


@pytest.mark.parametrize(
    "text",
    [
        "Modell;Precision;Recall;n\nA;0,850;0,800;1.234\nB;0,7;,9;900",
        "Modell\tPrecision\tRecall\tn\nA\t0,850\t0,800\t1.234\nB\t0,7\t,9\t900",
    ],
)
def test_decimal_commas(text: str) -> None:
    assert numbers(text) == [0.85, 0.8, 1234]
    assert numbers(text, 1) == [0.7, 0.9, 900]


def test_commas_between_thousands_stay_so() -> None:
    assert numbers("a;n;share\nx;1,234;0.5") == [1234, 0.5]
    assert numbers('a,n,share\nx,"12,345",0.5') == [12345, 0.5]


def test_a_report_of_classes_by_where_its_numbers_stand() -> None:
    table = read_table(SPACES)
    assert table.columns[1:] == ("precision", "recall", "f1-score", "support")
    assert table.rows[2]["f1-score"] == "0.83"
    assert table.rows[2]["precision"] == ""
    assert audit(table).findings == ()
    wrong = audit(read_table(SPACES.replace("0.78      0.85", "0.71      0.85"))).findings
    assert [one.code for one in wrong] == ["mean_row_does_not_follow"]


@pytest.mark.parametrize("over", ["Model,Dev,Dev,Dev,Test,Test,Test", ",Dev,,,Test,,"])
def test_a_header_that_spans_columns_makes_groups(over: str) -> None:
    text = (
        f"{over}\n,P,R,F1,P,R,F1\nA,85.0,80.0,82.4,70.0,90.0,88.8\nB,70.0,90.0,78.8,85.0,80.0,82.4"
    )
    (fault,) = [one for one in audit(read_table(text)).findings if one.severity == "fault"]
    assert (fault.code, fault.columns) == ("f1_does_not_follow", ("Test: F1",))


def test_a_header_that_spans_columns_in_latex() -> None:
    text = (
        "& \\multicolumn{3}{c}{Dev} & \\multicolumn{3}{c}{Test} \\\\ \\cmidrule(lr){2-4}\n"
        "Model & P & R & F1 & P & R & F1 \\\\\n"
        "A & 85.0 & 80.0 & 82.4 & 70.0 & 90.0 & 78.8 \\\\"
    )
    table = read_table(text)
    assert table.columns[1] == "Dev: P"
    assert audit(table).checked["f1"] == 2


def test_a_row_of_words_below_the_names_is_no_header() -> None:
    table = read_table("Model,,Note\nA,n/a,good\nB,1,bad")
    assert len(table.rows) == 2


def test_a_caption_and_rules_before_the_table_are_left_out() -> None:
    text = "Table 3: Results\n+---+-----+\n| M | F1  |\n+---+-----+\n| A | 0.8 |\n+---+-----+"
    assert numbers(text) == [0.8]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("**82.4**", 82.4),
        ("\\textbf{82.4}", 82.4),
        ("\\underline{82.4}\\%", 82.4),
        ("82.4*", 82.4),
        ("82.4†", 82.4),
        ("82.4§", 82.4),
        ("82.4²", 82.4),
        ("82.4<sup>a</sup>", 82.4),
        ("82.4<sup>2</sup>", 82.4),
        ("82.4$^{*}$", 82.4),
        ("82.4$^\\dagger$", 82.4),
        ("82.4$_{\\pm 0.2}$", 82.4),
        ("82.4 (0.2)", 82.4),
        ("82.4 (±0.2)", 82.4),
        ("82.4 [80.1, 84.0]", 82.4),
        ("82.4 (80.1–84.0)", 82.4),
        ("82.4 %", 82.4),
        ("20 000", 20_000),
        ("20\u202f000", 20_000),
        ("20'000", 20_000),
        ("20{,}000", 20_000),
    ],
)
def test_marks_beside_a_number(cell: str, value: float) -> None:
    number = parse(cell)
    assert number is not None
    assert number.value == value


@pytest.mark.parametrize("cell", ["n/a", "–", "—", "", "-", "10²", "GPT 4", "82.4 a lot", "1.5B"])
def test_what_is_no_number(cell: str) -> None:
    assert parse(cell) is None


def test_a_first_line_of_numbers_names_no_columns() -> None:
    with pytest.raises(InvalidInput, match="must name the columns"):
        read_table("A,0.85,0.80\nB,0.70,0.90")
    assert read_table("Model,2019,2020\nA,0.85,0.80").columns[1] == "2019"


@pytest.mark.parametrize(
    "text",
    [
        "\\begin{tabular" * 13_000,
        "\\begin{tabular}{" + "{a}" * 60_000 + " & \\\\",
        "a & \\multirow{2}{*}{" + "\\multirow{2}{*}{" * 11_000 + " \\\\",
        "\\multicolumn{99}{c}{x} & " * 7_000 + "\\\\",
        "a;b\n1;" + "1," * 90_000,
        "a;b\n1;1" + "." * 190_000,
        "a  b\n" + "x " * 90_000,
        "a  b\n" + " ".join("x" * 50_000),
        "a b\n" + "1" * 190_000,
        "a,b\n" + "[" * 190_000 + ",1",
        "|" * 190_000,
        "$^{" * 60_000,
        "a\tb\n" + "82.4$^" * 30_000,
        "a\tb\n" + "n = (" * 30_000,
    ],
    ids=range(14),
)
def test_hostile_text_is_answered_at_once(text: str) -> None:
    begun = time.monotonic()
    with contextlib.suppress(InvalidInput):
        json.dumps(audit(read_table(text)).to_json(), allow_nan=False)
    assert time.monotonic() - begun < 5
