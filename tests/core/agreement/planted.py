"""Tables whose numbers are right, made from a seed, and the same with one fault planted."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from scipy import stats

Row = list[str]
METRICS = ("Accuracy", "Precision", "Recall", "F1")


@dataclass(frozen=True)
class Style:
    """How numbers are printed."""

    digits: int
    percent: bool
    sign: bool
    cut: bool

    def share(self, value: float) -> str:
        """A share in this style."""
        digits = self.digits if self.percent else self.digits + 2
        shown = self.number(value * (100 if self.percent else 1), digits)
        return shown + ("%" if self.sign and self.percent else "")

    def number(self, value: float, digits: int) -> str:
        """Rounded, or cut off after the digits."""
        if self.cut:
            value = math.trunc(round(value * 10**digits, 6)) / 10**digits
        return f"{value:.{digits}f}"


@dataclass
class Planted:
    """A table as rows of cells, and what else the reader knows."""

    rows: list[Row]
    known: dict[str, int]

    def text(self) -> str:
        """As TSV."""
        return "\n".join("\t".join(row) for row in self.rows)


Maker = Callable[[random.Random, Style, bool], Planted]


def style_of(dice: random.Random) -> Style:
    """Any usual style."""
    percent = dice.random() < 0.6
    return Style(dice.choice((1, 2)), percent, dice.random() < 0.5, dice.random() < 0.4)


def counts_of(dice: random.Random, items: int, positives: int) -> tuple[int, int, int, int]:
    """TP, FP, FN, TN of a usable classifier."""
    tp = dice.randint(positives // 2, positives - 2)
    fp = dice.randint(3, (items - positives) // 3)
    while fp == positives - tp:
        fp += 1
    return tp, fp, positives - tp, items - positives - fp


def metrics_of(four: tuple[int, int, int, int]) -> list[float]:
    """Accuracy, precision, recall, F1."""
    tp, fp, fn, tn = four
    return [(tp + tn) / sum(four), tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn)]


def confusion(dice: random.Random, style: Style) -> list[tuple[tuple[int, int, int, int], Row]]:
    """Rows of counts with their metrics as printed."""
    items, positives = dice.randint(200, 1000), dice.randint(60, 90)
    fours = [counts_of(dice, items, positives) for _ in range(dice.randint(4, 9))]
    return [(four, [style.share(each) for each in metrics_of(four)]) for four in fours]


def swapped_columns(dice: random.Random, style: Style, fault: bool) -> Planted:
    """FP and FN."""
    rows = [["Model", *METRICS, "TP", "FP", "FN", "TN"]]
    for at, ((tp, fp, fn, tn), shares) in enumerate(confusion(dice, style)):
        pair = (fn, fp) if fault else (fp, fn)
        rows.append([f"m{at}", *shares, *map(str, (tp, *pair, tn))])
    return Planted(rows, {})


def shifted_row(dice: random.Random, style: Style, fault: bool) -> Planted:
    """The metrics of one row one column to the left."""
    table = swapped_columns(dice, style, False)
    if fault:
        row = table.rows[dice.randrange(1, len(table.rows))]
        row[1:5] = [*row[2:5], row[2]]
    return table


def wrong_sum(dice: random.Random, style: Style, fault: bool) -> Planted:
    """One count far off."""
    table = swapped_columns(dice, style, False)
    items = sum(map(int, table.rows[1][5:]))
    if fault:
        row = table.rows[dice.randrange(1, len(table.rows))]
        row[8] = str(int(row[8]) + dice.choice((11, 37, 60)))
    return Planted(table.rows, {"items": items})


def wrong_f1(dice: random.Random, style: Style, fault: bool) -> Planted:
    """F1 of one row."""
    rows = [["Model", "P", "R", "F1"]]
    rows += [[f"m{at}", *row[1:]] for at, (_, row) in enumerate(confusion(dice, style))]
    if fault:
        bump(dice, style, rows, 3)
    return Planted(rows, {})


def no_whole_number(dice: random.Random, style: Style, fault: bool) -> Planted:
    """A share that no number of items gives; so fine that the digits tell."""
    fine = Style(2, style.percent, style.sign, style.cut)
    items = dice.randint(30, 150)
    wholes = [dice.randint(items // 2, items - 1) for _ in range(6)]
    rows = [["Model", "Accuracy", "n"]]
    rows += [[f"m{at}", fine.share(k / items), str(items)] for at, k in enumerate(wholes)]
    if fault:
        rows[2][1] = fine.share((wholes[1] + 0.5) / items)
    return Planted(rows, {})


def low_accuracy(dice: random.Random, style: Style, fault: bool) -> Planted:
    """Accuracy below what precision and recall leave."""
    rows = [["Model", *METRICS]]
    rows += [[f"m{at}", *row] for at, (_, row) in enumerate(confusion(dice, style))]
    if fault:
        rows[1][1:] = [style.share(each) for each in (0.62, 0.95, 0.96, 0.955)]
    return Planted(rows, {})


def wrong_difference(dice: random.Random, style: Style, fault: bool) -> Planted:
    """One difference; with another column of numbers beside."""
    rows = [["Task", "Alone", "Debate", "Gain", "Tokens"]]
    for at in range(dice.randint(4, 8)):
        one, other = (round(dice.uniform(0.4, 0.9), 6) for _ in range(2))
        told = [style.share(each) for each in (one, other)]
        digits = style.digits if style.percent else style.digits + 2
        gap = float(told[1].rstrip("%")) - float(told[0].rstrip("%"))
        row = [f"t{at}", *told, f"{gap:+.{digits}f}", str(dice.randint(500, 9000))]
        rows.append(row)
    if fault:
        bump(dice, style, rows, 3)
    return Planted(rows, {})


def wrong_row_mean(dice: random.Random, style: Style, fault: bool) -> Planted:
    """The average of one row."""
    rows = [["Model", "A", "B", "C", "D", "Average"]]
    for at in range(dice.randint(3, 8)):
        values = [dice.uniform(0.4, 0.9) for _ in range(4)]
        rows.append([f"m{at}", *(style.share(each) for each in (*values, sum(values) / 4))])
    if fault:
        bump(dice, style, rows, 5)
    return Planted(rows, {})


def wrong_mean_row(dice: random.Random, style: Style, fault: bool) -> Planted:
    """The row of averages."""
    values = [[dice.uniform(0.4, 0.9) for _ in range(3)] for _ in range(dice.randint(3, 8))]
    rows = [["Task", "Ours", "Theirs", "Crowd"]]
    rows += [[f"t{at}", *map(style.share, row)] for at, row in enumerate(values)]
    means = [sum(column) / len(values) for column in zip(*values, strict=True)]
    rows.append(["Average", *map(style.share, means)])
    if fault:
        bump(dice, style, rows, dice.randint(1, 3), row=-1)
    return Planted(rows, {})


def wrong_weighted_mean(dice: random.Random, style: Style, fault: bool) -> Planted:
    """The weighted average of the classes."""
    sizes = [dice.randint(20, 300) for _ in range(4)]
    rows = [["Class", "Precision", "Recall", "F1", "Support"]]
    shares = []
    for at, size in enumerate(sizes):
        p, r = dice.uniform(0.4, 0.95), dice.uniform(0.4, 0.95)
        shares.append((p, r, 2 * p * r / (p + r)))
        rows.append([f"c{at}", *map(style.share, shares[-1]), str(size)])
    columns = list(zip(*shares, strict=True))
    weighted = [
        sum(s * n for s, n in zip(each, sizes, strict=True)) / sum(sizes) for each in columns
    ]
    macro = [sum(each) / 4 for each in columns]
    rows.append(["macro avg", *map(style.share, macro), str(sum(sizes))])
    rows.append(["weighted avg", *map(style.share, weighted), str(sum(sizes))])
    if fault:
        bump(dice, style, rows, dice.randint(1, 3), row=-1)
    return Planted(rows, {})


def wrong_mixture(dice: random.Random, style: Style, fault: bool) -> Planted:
    """The whole from its two parts and their ratio."""
    rows = [["Data", "Ratio", "Ambiguous", "Normal", "Overall"]]
    for at in range(5):
        ratio, one, rest = dice.uniform(0.1, 0.6), dice.uniform(0.3, 0.6), dice.uniform(0.6, 0.95)
        whole = ratio * one + (1 - ratio) * rest
        rows.append([f"d{at}", f"{ratio:.4f}", *map(style.share, (one, rest, whole))])
    if fault:
        bump(dice, style, rows, 4)
    return Planted(rows, {})


def impossible_kappa(dice: random.Random, style: Style, fault: bool) -> Planted:
    """Kappa above the agreement."""
    rows = [["Pair", "Agreement", "Cohen's kappa"]]
    for at in range(5):
        agreement, chance = dice.uniform(0.6, 0.95), dice.uniform(0.2, 0.55)
        kappa = (agreement - chance) / (1 - chance)
        rows.append([f"p{at}", style.share(agreement), style.number(kappa, 2)])
    if fault:
        rows[2][1:] = [style.share(0.713), "0.79"]
    return Planted(rows, {})


def outside_interval(dice: random.Random, style: Style, fault: bool) -> Planted:
    """A value outside its interval."""
    rows = [["Model", "n", "Accuracy", "95% CI"]]
    for at in range(5):
        n, share = 400, dice.randint(200, 380) / 400
        half = 1.96 * math.sqrt(share * (1 - share) / n)
        ends = style.share(share - half), style.share(share + half)
        rows.append([f"m{at}", str(n), style.share(share), f"[{ends[0]}, {ends[1]}]"])
    if fault:
        rows[3][2] = style.share(dice.randint(10, 60) / 400)
    return Planted(rows, {})


def wrong_tail(dice: random.Random, style: Style, fault: bool) -> Planted:
    """A p-value that t and df do not give."""
    rows = [["Contrast", "t", "df", "p"]]
    for at in range(5):
        t, df = dice.uniform(0.5, 4.0), dice.randint(8, 60)
        p = 2 * float(stats.t.sf(t, df))
        rows.append([f"c{at}", f"{t:.2f}", str(df), "<.001" if p < 0.001 else f"{p:.3f}"])
    if fault:
        rows[1][1:] = ["1.10", "20", ".031"]
    return Planted(rows, {})


def wrong_rate(dice: random.Random, style: Style, fault: bool) -> Planted:
    """A share of correct items."""
    rows = [["Model", "Correct", "Total", "%"]]
    for at in range(4):
        n = dice.randint(900, 20_000)
        k = dice.randint(n // 10, n)
        rows.append([f"m{at}", f"{k:,}", f"{n:,}", style.number(100 * k / n, style.digits)])
    if fault:
        bump(dice, style, rows, 3)
    return Planted(rows, {})


def wrong_part(dice: random.Random, style: Style, fault: bool) -> Planted:
    """A share of all rows together."""
    counts = [dice.randint(20, 900) for _ in range(6)]
    rows = [["Label", "Count", "%"]]
    rows += [
        [f"l{at}", str(k), style.number(100 * k / sum(counts), style.digits)]
        for at, k in enumerate(counts)
    ]
    rows.append(["Total", str(sum(counts)), "100"])
    if fault:
        bump(dice, style, rows, 2, row=2)
    return Planted(rows, {})


def bump(dice: random.Random, style: Style, rows: list[Row], column: int, row: int = 0) -> None:
    """A cell of the table off by some hundredths."""
    at = row or dice.randrange(1, len(rows))
    cell = rows[at][column]
    number, scale = float(cell.rstrip("%")), 1 if style.percent or column == len(rows[0]) else 0.01
    scale = 1.0 if abs(number) > 1 or style.percent else scale
    digits = len(cell.rstrip("%").partition(".")[2])
    off = dice.choice((2.3, -2.3, 4.1, 7.2)) * scale
    sign = "+" if cell.startswith(("+", "-")) else ""
    rows[at][column] = f"{number + off:{sign}.{digits}f}" + ("%" if "%" in cell else "")


MAKERS: dict[str, Maker] = {
    "columns_swapped": swapped_columns,
    "metrics_shifted": shifted_row,
    "counts_do_not_sum": wrong_sum,
    "f1_does_not_follow": wrong_f1,
    "grim": no_whole_number,
    "accuracy_out_of_bounds": low_accuracy,
    "difference_does_not_follow": wrong_difference,
    "mean_does_not_follow": wrong_row_mean,
    "mean_row_does_not_follow": wrong_mean_row,
    "weighted_row_does_not_follow": wrong_weighted_mean,
    "mixture_does_not_follow": wrong_mixture,
    "impossible_kappa": impossible_kappa,
    "outside_interval": outside_interval,
    "p_does_not_follow": wrong_tail,
    "rate_does_not_follow": wrong_rate,
    "rate_of_all": wrong_part,
}
