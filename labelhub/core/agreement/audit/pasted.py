"""From pasted text to rows of cells: which characters part the columns, and which lines are none.

Cells stay as printed but for decimal commas, which become points: there a comma would be read as
one between thousands.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from labelhub.core.agreement.audit.printed import parse
from labelhub.core.errors import InvalidInput

Rows = list[list[str]]

SEPARATORS = "\t;,"
#: A header that spans columns names each of them so: "Dev: Precision".
GROUP = ": "

_RULE = re.compile(r"[\s|:+=─━-]+")
_GAP = re.compile(r"\s{2,}|\t")
_BEGIN, _END = "\\begin{tabular", "\\end{tabular"
LONGEST_CELL = 1_000
_RULES = re.compile(
    r"\\(?:(?:top|mid|bottom|c?mid)rule|[hc]line|addlinespace|noalign|rowcolor|cmidrule|centering)\b"
    r"\*?(?:\([^()]*\))?(?:\[[^\[\]]*\])*(?:\{[^{}]*\})*"
)
_COMMENT = re.compile(r"(?<![\\\d])%.*")
_SPAN = re.compile(r"\s*\\multicolumn\s*\{(\d{1,2})\}\s*\{[^{}]*\}\s*\{(.*)\}\s*", re.DOTALL)
_TALL = re.compile(r"\\multirow\s*(?:\[\w*\])?\{[^{}]*\}(?:\[[^\[\]]*\])?\{[^{}]*\}\s*\{(.*?)\}")
_AMPERSAND = re.compile(r"(?<!\\)&")
_NEW_ROW = re.compile(r"\\\\(?:\s*\[[^\[\]]*\])?")

_NUMERAL = re.compile(r"\d[\d.,]*\d|\d|[.,]\d+")
_COMMA = re.compile(r"(?:0|[1-9]\d{0,2}(?:\.\d{3})*|\d+)?,(?:\d{1,2}|\d{4,})|0?,\d+")
_POINT = re.compile(r"(?:0|[1-9]\d{0,2}(?:,\d{3})*|\d+)?\.(?:\d{1,2}|\d{4,})|0?\.\d+")


def rows_of(text: str) -> Rows:
    """Rows of cells as they stand in the text; the first names the columns.

    LaTeX, or columns by pipes, tabs, semicolons, commas or spaces. Lines without a cell border
    before the first row (a caption) and rules are left out.

    Raises:
        InvalidInput: the text is no separated values.
    """
    rows = _latex(text) if _is_latex(text) else _split(text.splitlines())
    return _with_points(rows)


def _is_latex(text: str) -> bool:
    return "\\\\" in text and _AMPERSAND.search(text) is not None


def _latex(text: str) -> Rows:
    inside = text.partition(_BEGIN)[2].partition(_END)[0]
    body = _without_preamble(inside) if inside else text
    bare = "\n".join(_COMMENT.sub("", line) for line in body.splitlines())
    lines = [_RULES.sub(" ", line).strip() for line in _NEW_ROW.split(bare)]
    return [_latex_cells(line) for line in lines if _AMPERSAND.search(line)]


def _without_preamble(inside: str) -> str:
    """Without the rest of the name, the width of those that have one, and the columns."""
    name, _, text = inside.partition("}")
    for _ in range(2 if name else 1):
        text = text.lstrip()
        text = text.partition("]")[2].lstrip() if text.startswith("[") else text
        depths = accumulate((letter == "{") - (letter == "}") for letter in text)
        end = next((at for at, depth in enumerate(depths, start=1) if depth <= 0), len(text))
        text = text[end:] if text.startswith("{") else text
    return text


def _latex_cells(line: str) -> list[str]:
    cells: list[str] = []
    for cell in (long[:LONGEST_CELL] for long in _AMPERSAND.split(line)):
        span = _SPAN.fullmatch(cell)
        text = _TALL.sub(r"\1", span[2] if span else cell).replace("\\&", "&").strip()
        cells += [text] * min(int(span[1]) if span else 1, 60)
    return cells


def _split(lines: Sequence[str]) -> Rows:
    filled = [line for line in lines if line.strip()]
    told = [line for line in filled if not _RULE.fullmatch(line)]
    for separator in "|" + SEPARATORS:
        having = [line for line in told if separator in line]
        if having and (separator in told[0] or 1 < len(having) == len(told) - 1):
            told = told if separator in told[0] else having
            break
    else:
        return _by_spaces(told)
    if separator == "|":
        return [line.strip().strip("|").split("|") for line in told]
    return _separated(told, separator)


def _separated(lines: Iterable[str], separator: str) -> Rows:
    try:
        return [row for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error as error:
        raise InvalidInput(f"The table cannot be read as separated values: {error}.") from None


def _by_spaces(lines: list[str]) -> Rows:
    """By gaps of two spaces where all lines then have as many cells; by where the cells stand
    where the lines have names before the first column; else by every space."""
    if not lines:
        return []
    wide = [_GAP.split(line.strip()) for line in lines]
    if len(wide[0]) > 1 and all(len(one) == len(other) for one, other in pairwise(wide)):
        return wide
    most = max(map(len, wide))
    if len(wide[0]) > 1 and most == len(wide[0]) + 1:
        return [["", *wide[0]], *(_by_place(lines[0], line) for line in lines[1:])]
    return [line.split() for line in lines]


def _by_place(head: str, line: str) -> list[str]:
    """A name, and each number under the column whose name ends next to it."""
    ends = [found.end() for found in re.finditer(r"\S+(?: \S+)*", head)]
    cells = [""] * (len(ends) + 1)
    for found in re.finditer(r"\S+(?: \S+)*", line):
        at = min(range(len(ends)), key=lambda each: abs(ends[each] - found.end()))
        first = not any(cells) and parse(found[0]) is None
        cells[0 if first else at + 1] = found[0]
    return cells


def merged(rows: Rows, known: Callable[[str], bool]) -> Rows:
    """Two lines of names as one, where the first spans columns of the second.

    ``known``: whether a name says what a column holds; a row of words is no line of names.
    """
    if len(rows) < 3 or len(rows[0]) != len(rows[1]):
        return rows
    upper, lower = ([cell.strip() for cell in row] for row in rows[:2])
    spans = len({cell for cell in upper if cell}) < len(upper)
    if not spans or any(parse(cell) is not None for cell in (*upper, *lower)):
        return rows
    return [list(_joined(upper, lower)), *rows[2:]] if any(map(known, lower)) else rows


def _joined(upper: list[str], lower: list[str]) -> Iterator[str]:
    """An empty cell above continues the span to its left, once one has begun."""
    over = ""
    for above, below in zip(upper, lower, strict=True):
        over = above or over
        yield f"{over}{GROUP}{below}" if over and below and over != below else below or over


def _with_points(rows: Rows) -> Rows:
    """Decimal commas as points, where some number can only have one and none has a point."""
    numerals = [each for row in rows[1:] for cell in row for each in _NUMERAL.findall(cell)]
    commas = any(_COMMA.fullmatch(each) for each in numerals)
    if not commas or any(_POINT.fullmatch(each) for each in numerals):
        return rows
    return [rows[0], *([_NUMERAL.sub(_pointed, cell) for cell in row] for row in rows[1:])]


def _pointed(numeral: re.Match[str]) -> str:
    return numeral[0].replace(".", "").replace(",", ".")
