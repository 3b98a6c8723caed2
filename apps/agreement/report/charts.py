"""The charts of a report by name, so that page and downloads draw the same ones."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from string import ascii_uppercase
from typing import Any

from django.utils.translation import gettext, gettext_noop, ngettext

from apps.agreement.charts import (
    SHARE_COLUMNS,
    AnyFigure,
    Measured,
    Offer,
    cost_quality,
    figure_columns,
    interval_bars,
    is_share,
    scale_figure,
    sentence,
    step_of,
)
from apps.agreement.report.tables import (
    MAIN_WORDS,
    TEXT_WAYS,
    main_coefficient,
    trust_table,
    weight_words,
)
from apps.agreement.report.truths import Report, Truth, short_name, truths_of
from apps.common.charts import (
    Axis,
    Cell,
    Chart,
    Line,
    Mark,
    Name,
    Point,
    Rule,
    axis_floor,
    kind_order,
    number_tick,
    share_tick,
)
from apps.common.figures import draw_figure, ends, localise, number_words, share_words
from apps.common.values import join_names
from labelhub.core.schema import TASKS

#: Figures by the keys of two sources.
Pairs = Mapping[tuple[Any, Any], AnyFigure]
Draw = Callable[[Report], Chart | None]

#: More sources, labels and machines than these are in the table only.
MOST_SOURCES, MOST_LABELS, MOST_MACHINES = 40, 12, 7
#: Up to so many sources every cell has room for its number and its n.
ROOMY = 5
NO_PAIR: AnyFigure = {"value": None, "reason": "no_shared_items"}
NOT_ASKED_TWICE: AnyFigure = {
    "value": None,
    "reason": gettext_noop("One annotator is not compared with itself."),
}
METHOD = gettext_noop("winning rate (Calderon, Reichart and Dror 2025)")
#: Columns of files, which stay English; a page looks up their translations.
COUNTS = {
    "predicted_yes_gold_yes": gettext_noop("true positives"),
    "predicted_yes_gold_no": gettext_noop("false positives"),
    "predicted_no_gold_yes": gettext_noop("false negatives"),
}
_COLUMNS = (
    gettext_noop("label"), gettext_noop("other"), gettext_noop("other kind"), gettext_noop("said"),
    gettext_noop("true"), gettext_noop("items"), gettext_noop("agreeing"), gettext_noop("machine"),
    gettext_noop("epsilon"), gettext_noop("least"), gettext_noop("greatest"),
    gettext_noop("mean confidence"),
)  # fmt: skip
POOLED = {
    "accuracy": gettext_noop("single labels"),
    "majority_accuracy": gettext_noop("majority"),
    "dawid_skene_accuracy": gettext_noop("Dawid–Skene"),
}


def heatmap(report: Report, level: str = "kind") -> Chart | None:
    """The agreement of every two kinds or annotators: a coefficient corrected for chance, else
    percent. Annotators that share no item with another are left out."""
    main, between = main_coefficient(report), TASKS[report["task"]].pair_coefficient
    within = main if between == "cohen_kappa" else between
    of_kinds = level == "kind"
    sources: dict[Hashable, Source] = {}
    figures: dict[tuple[Any, Any], AnyFigure] = {}
    if of_kinds:
        for kind, found in report["within"].items():
            sources[kind] = Source(kind, short_name(report, kind), kind)
            figures[kind, kind] = found.get(within, NO_PAIR)
    for pair in report["between"]:
        if pair["level"] != level:
            continue
        keys = [pair.get(f"{side}_id", pair[side]) for side in "ab"]
        for side, key in zip("ab", keys, strict=True):
            kind = pair.get(f"{side}_kind", pair[side])
            name = short_name(report, kind) if of_kinds else pair[side]
            sources.setdefault(key, Source(key, name, kind))
        figures[keys[0], keys[1]] = pair.get(between, NO_PAIR)
    return draw_heatmap(
        list(sources.values()),
        figures,
        of=gettext("Cohen's κ") if between == "cohen_kappa" else gettext(MAIN_WORDS[between]),
        within=gettext(MAIN_WORDS[within]) if of_kinds else "",
        title=gettext("Agreement within and between kinds")
        if of_kinds
        else gettext("Agreement between annotators"),
        key="heatmap" if of_kinds else "annotators",
    )


def accuracy(report: Report) -> Chart | None:
    """Each kind against the truth, by every way of putting its labels together."""
    truth = _truth(report)
    if truth is None:
        return None
    ways = TEXT_WAYS if TASKS[report["task"]].written else POOLED
    sources = [
        Measured(
            short_name(report, kind),
            kind,
            {
                gettext(words): truth.found[kind][name]
                for name, words in ways.items()
                if name in truth.found[kind] and truth.found[kind][name]["value"] is not None
            },
        )
        for kind in truth.kinds
        if kind != "author" or truth.by == "gold"
    ]
    title = gettext("Accuracy against %(truth)s") % {"truth": truth.name}
    numbers = [gettext(words) for name, words in ways.items() if not is_share(name)]
    return interval_bars(sources, of=title, numbers=numbers, key="accuracy")


def cost(report: Report) -> Chart | None:
    """The cost of an answer of each kind, against how often it is right."""
    truth = _truth(report)
    return cost_quality(offers(report, truth)) if truth else None


def offers(report: Report, truth: Truth) -> list[Offer]:
    """Price and accuracy of an answer, of every kind with known costs that can be measured by
    ``truth``: one label of the kind, or a vote of several.

    A vote of three costs as much as three labels.
    """
    found = []
    for kind in truth.kinds:
        if report["cost"][kind]["per_label"]["value"] is None or (
            kind == "author" and truth.by != "gold"
        ):
            continue
        name, label = short_name(report, kind), report["cost"][kind]["per_label"]
        single = [{"votes": 1, "accuracy": truth.found[kind]["accuracy"]}]
        for row in truth.found[kind]["by_votes"] or single:
            votes = row["votes"]
            votes_name = name if votes == 1 else f"{name} × {votes}"
            found.append(Offer(votes_name, kind, scale_figure(label, votes), row["accuracy"]))
    return found


def trust(report: Report) -> Chart | None:
    """F1 of each kind on each label, as a table only: the page draws its own cells."""
    truth = _truth(report)
    kinds, _ = trust_table(report, truth) if truth else ([], [])
    if truth is None or not kinds:
        return None
    return Chart(
        key="trust",
        title=gettext("F1 of each kind on each label, against %(truth)s") % {"truth": truth.name},
        rows=[
            {
                "label": score["label"],
                "kind": kind,
                **figure_columns(score["f1"]),
                **{words: score["counts"][count] for count, words in COUNTS.items()},
            }
            for kind in kinds
            for score in truth.found[kind]["per_label"]
        ],
    )


def _truth(report: Report) -> Truth | None:
    return next(iter(truths_of(report)), None)


@dataclass(frozen=True, slots=True)
class Source:
    """A kind (``key`` is its name) or an annotator."""

    key: Hashable
    name: str
    kind: str


def draw_heatmap(
    sources: Sequence[Source],
    figures: Pairs,
    *,
    of: str,
    within: str,
    title: str,
    key: str,
) -> Chart | None:
    """The agreement of every two sources: a square of coefficients.

    Args:
        sources: at most 40 are drawn, the first ones; they are grouped by kind.
        figures: by the keys of two sources in either order; of one source twice: within it.
        of: the quantity, such as ``Cohen's kappa``; those on the diagonal: ``within``.
    """
    chosen = sorted(sources[:MOST_SOURCES], key=lambda source: kind_order(source.kind))
    if not chosen or not any(ends(figure) for figure in figures.values()):
        return None
    roomy = len(chosen) <= ROOMY
    cells = [
        _pair_cell((column, row), chosen, _pair(figures, chosen[row], chosen[column]), roomy=roomy)
        for row in range(len(chosen))
        for column in range(len(chosen))
    ]
    names = [Name(source.name, source.kind) for source in chosen]
    of_kinds = all(source.key == source.kind for source in chosen)
    description = gettext(
        "%(measure)s of every two sources: the darker, the nearer to full agreement."
    )
    description %= {"measure": of}
    if more := len(sources) - len(chosen):
        description += " " + gettext("%(number)s more are not drawn.") % {"number": more}
    note = of
    if of_kinds:
        note = gettext("%(measure)s; framed: %(within)s within one kind")
        note %= {"measure": of, "within": within}
    return Chart(
        key=key,
        title=title,
        description=description,
        rows=[
            {
                "source": source.name,
                "kind": source.kind,
                "other": other.name,
                "other kind": other.kind,
                **figure_columns(figure),
            }
            for number, source in enumerate(chosen)
            for other in chosen[number:]
            if (figure := _pair(figures, source, other)) is not NOT_ASKED_TWICE
        ],
        x=Axis(names=names, step=32),
        y=Axis(names=names, step=44 if roomy else 24),
        marks=cells,
        note=note,
    )


def _pair(figures: Pairs, row: Source, column: Source) -> AnyFigure:
    found = figures.get((row.key, column.key)) or figures.get((column.key, row.key))
    return found or (NOT_ASKED_TWICE if row.key == column.key else NO_PAIR)


def _pair_cell(
    place: tuple[int, int], sources: Sequence[Source], figure: AnyFigure, *, roomy: bool
) -> Cell:
    column, row = place
    drawn, known, own = draw_figure(figure), ends(figure), row == column
    if own:
        names = gettext("within %(kind)s") % {"kind": sources[row].name}
    else:
        names = join_names([sources[row].name, sources[column].name])
    text = "–"
    if known:
        text = drawn.value if roomy else _short(known[1])
    return Cell(
        column=column,
        row=row,
        step=step_of(known[1]) if known else 0,
        text=text,
        n=f"n {drawn.n}" if roomy and drawn.n else "",
        framed=own and sources[row].key == sources[row].kind,
        words=f"{names}: {sentence(figure)}",
    )


def _short(value: float) -> str:
    """A number in a small cell: ``.62``, ``1``, ``−.05``."""
    words = number_words(value)
    return words.replace("0", "", 1) if abs(round(value, 2)) < 1 else localise(f"{value:.0f}")


def confusion(report: Report, kind: str) -> Chart | None:
    """The most frequent answers of one kind against the truth; tied ones share their item.

    The twelve labels that are most frequent are drawn; the table has more of them.
    """
    truth = _truth(report)
    found = truth.found.get(kind) if truth else None
    if truth is None or not found or not found["confusion"]:
        return None
    labels = found.get("confusion_labels", report["categories"])
    counts = {
        (predicted, true): found["confusion"][f"predicted {predicted}, gold {true}"]
        for predicted in labels
        for true in labels
    }
    whole, right = sum(counts.values()), sum(counts[label, label] for label in labels)
    if not whole:
        return None
    times = [
        sum(counts[label, other] + counts[other, label] for other in labels) for label in labels
    ]
    chosen = sorted(range(len(labels)), key=lambda place: -times[place])[:MOST_LABELS]
    shown = [labels[place] for place in sorted(chosen)]
    names = [Name(label) for label in shown]
    note = gettext("Rows: answers; columns: %(truth)s; framed: right, %(right)s of %(total)s") % {
        "truth": truth.name,
        "right": weight_words(right),
        "total": weight_words(whole),
    }
    every = len(labels) + found.get("confusion_left_out", 0)
    if every > len(shown):
        note += "; " + gettext("the %(shown)s most frequent of %(every)s labels") % {
            "shown": len(shown),
            "every": every,
        }
    return Chart(
        key=f"confusion-{kind}",
        title=gettext("%(name)s against %(truth)s")
        % {"name": short_name(report, kind), "truth": truth.name},
        description=note,
        rows=[
            {
                "said": predicted,
                "true": true,
                "items": counts[predicted, true],
                "note": gettext("right") if predicted == true else gettext("wrong"),
            }
            for predicted in labels
            for true in labels
            if len(shown) == len(labels) or counts[predicted, true]
        ],
        x=Axis(names=names, step=38),
        y=Axis(names=names, step=32),
        marks=[
            _count_cell(labels, counts, (shown[row], shown[column]), (row, column), truth.name)
            for row in range(len(shown))
            for column in range(len(shown))
        ],
        note=note,
    )


def _count_cell(
    labels: Sequence[str],
    counts: Mapping[tuple[str, str], float],
    pair: tuple[str, str],
    place: tuple[int, int],
    truth: str,
) -> Cell:
    """A cell shaded by its share of the answers of its row, in fifths."""
    (predicted, true), (row, column) = pair, place
    count = counts[pair]
    whole = sum(counts[predicted, label] for label in labels)
    share = ""
    if whole:
        share = "; " + gettext("%(share)s of these answers") % {"share": share_words(count / whole)}
    words = ngettext(
        "%(number)s item: answer %(label)s, %(truth)s %(true)s",
        "%(number)s items: answer %(label)s, %(truth)s %(true)s",
        1 if count == 1 else max(2, ceil(count)),
    )
    return Cell(
        column=column,
        row=row,
        step=min(5, 1 + int(5 * count // whole)) if count else 0,
        text=weight_words(count),
        framed=row == column,
        words=words
        % {"number": weight_words(count), "label": predicted, "truth": truth, "true": true}
        + share,
    )


def agreeing(report: Report) -> Chart | None:
    """Accuracy by the number of annotators of a kind who agree."""
    truth = _truth(report)
    if truth is None:
        return None
    groups = {
        kind: rows
        for kind in sorted(truth.kinds, key=kind_order)
        if kind != "author" and (rows := truth.found[kind]["by_agreeing"])
    }
    found = [(kind, row) for kind, rows in groups.items() for row in rows]
    known = [place for _, row in found if (place := ends(row["accuracy"]))]
    if not known or all(len(rows) == 1 for rows in groups.values()):
        return None
    numbers = sorted({row["agreeing"] for _, row in found})
    marks: list[Mark] = []
    for number, (kind, rows) in enumerate(groups.items()):
        name, aside = short_name(report, kind), (number - (len(groups) - 1) / 2) * 0.08
        values = {row["agreeing"]: row["accuracy"] for row in rows}
        points: list[Point | None] = []
        for agree in numbers:
            figure = values.get(agree)
            if place := ends(figure):
                words = gettext("%(number)s agree") % {"number": agree}
                words = f"{name}, {words}: {sentence(figure, percent=True)}"
                x, y_ends = agree + aside, (place[0], place[2])
                points.append(Point(x=x, y=place[1], kind=kind, y_ends=y_ends, words=words))
            else:
                points.append(None)
        if any(points):
            path = [None if point is None else (point.x, point.y) for point in points]
            marks += [Line(points=path, kind=kind, name=name), *filter(None, points)]
    return Chart(
        key="agreeing",
        title=gettext("Majority-vote accuracy against %(truth)s, by number of annotators who agree")
        % {"truth": truth.name},
        description=gettext(
            "Share of items whose most frequent answer is right, with 95 % intervals, by how many "
            "annotators gave that answer; below: items."
        ),
        shares=SHARE_COLUMNS,
        rows=[
            {
                "kind": kind,
                "agreeing": row["agreeing"],
                "items": row["items"],
                **figure_columns(row["accuracy"]),
            }
            for kind, row in found
        ],
        x=Axis(
            title=gettext("annotators who agree"),
            low=numbers[0] - 0.5,
            high=numbers[-1] + 0.5,
            ticks=numbers,
            words=number_tick,
        ),
        y=Axis(title=gettext("accuracy"), low=axis_floor([low for low, *_ in known])),
        marks=marks,
        counts=[
            (Name(gettext("items"), kind), {row["agreeing"]: row["items"] for row in rows})
            for kind, rows in groups.items()
        ],
    )


def winning_rates(report: Report) -> Chart | None:
    """The share of the humans that each machine beats, by the price of a human; the best seven."""
    tests: Mapping[str, Mapping[str, Any]] = report["alt_test"]
    known = [(name, test) for name, test in tests.items() if len(_rates(test)) > 1]
    if not known:
        return None
    known.sort(key=lambda found: -(found[1].get("winning_rate") or 0.0))
    shown = known[:MOST_MACHINES]
    epsilons = [epsilon for _, test in shown for epsilon, _ in _rates(test)]
    used = sorted({test["epsilon"] for _, test in shown})
    description = gettext(
        "Winning rate: the share of humans that the machine beats when it may be worse by epsilon. "
        "From one half on it passes."
    )
    if more := len(known) - len(shown):
        description += " " + gettext("%(number)s more are in the table.") % {"number": more}
    return Chart(
        key="curve",
        title=gettext("Winning rate, by the price of a human"),
        description=description,
        shares=SHARE_COLUMNS,
        rows=[
            {
                "machine": name,
                "kind": test.get("kind", ""),
                "epsilon": row["epsilon"],
                **figure_columns(
                    {"value": row["winning_rate"], "n": test.get("tested"), "method": METHOD}
                ),
                "note": gettext("used") if row["epsilon"] == test.get("epsilon") else "",
            }
            for name, test in tests.items()
            for row in test.get("curve") or ()
        ],
        x=Axis(
            title=gettext("ε, the price of a human"),
            low=min(epsilons),
            high=max(epsilons),
            words=number_tick,
        ),
        y=Axis(title=gettext("winning rate"), ticks=(0, 0.25, 0.5, 0.75, 1)),
        marks=[
            Rule(y=0.5, name=gettext("passes")),
            *(
                Rule(x=epsilon, name=gettext("ε %(value)s used") % {"value": number_tick(epsilon)})
                for epsilon in used
            ),
            *(
                Line(
                    points=_rates(test),
                    kind=test.get("kind", ""),
                    dash=number,
                    name=f"{ascii_uppercase[number]} {name}, {_verdict(test)}",
                    words=f"{name}: {_verdict(test)}",
                )
                for number, (name, test) in enumerate(shown)
            ),
            *_letters(shown),
        ],
    )


def _rates(test: Mapping[str, Any]) -> list[tuple[float, float]]:
    rows = test.get("curve") or ()
    return [
        (row["epsilon"], row["winning_rate"]) for row in rows if row["winning_rate"] is not None
    ]


def _verdict(test: Mapping[str, Any]) -> str:
    rate = test.get("winning_rate")
    if rate is None:
        return gettext("not tested")
    verdict = gettext("passes") if test.get("passes") else gettext("does not pass")
    return f"{share_tick(rate)}: {verdict}"


def _letters(shown: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Point]:
    """The machines at the used epsilon; those of the same rate share a point."""
    letters: dict[tuple[float, float], str] = {}
    kinds: dict[tuple[float, float], str] = {}
    for number, (_, test) in enumerate(shown):
        if test.get("winning_rate") is not None:
            place = (test["epsilon"], test["winning_rate"])
            letters[place] = letters.get(place, "") + ascii_uppercase[number]
            kinds[place] = test.get("kind", "")
    return [Point(x=x, y=y, kind=kinds[x, y], label=words) for (x, y), words in letters.items()]


def reliability(report: Report) -> Chart | None:
    """The stated confidence of the machine with most answers, against how often it is right."""
    machines = report["calibration"]
    if not machines:
        return None
    # With one bin nothing shows whether it is more often right where it is surer.
    name, machine = max(
        machines.items(), key=lambda named: (len(named[1]["bins"]) > 1, named[1]["n"])
    )
    bins = machine["bins"]
    known = [(found, place) for found in bins if (place := ends(found["right"]))]
    if len(bins) < 2 or not known:
        return None
    lows = [*(found["confidence"] for found, _ in known), *(low for _, (low, *_) in known)]
    lowest = min(axis_floor(lows), 0.9)
    return Chart(
        key="reliability",
        title=gettext("Confidence against accuracy, %(name)s") % {"name": name},
        description=gettext(
            "Items in groups of similar confidence: mean confidence across, share right up with "
            "95 % intervals. Below the diagonal it is too sure, above not sure enough."
        ),
        shares=(*SHARE_COLUMNS, "least", "greatest", "mean confidence"),
        rows=[
            {
                "least": found["low"],
                "greatest": found["high"],
                "mean confidence": found["confidence"],
                **figure_columns(found["right"]),
            }
            for found in bins
        ],
        x=Axis(title=gettext("mean confidence"), low=lowest),
        y=Axis(title=gettext("accuracy"), low=lowest),
        marks=[
            Rule(name=gettext("perfect calibration; below: too sure")),
            Line(
                points=[(found["confidence"], value) for found, (_, value, _) in known],
                kind=machine["kind"],
            ),
            *(
                Point(
                    x=found["confidence"],
                    y=value,
                    kind=machine["kind"],
                    y_ends=(low, high),
                    words=gettext("confidence %(confidence)s: right %(share)s")
                    % {
                        "confidence": share_tick(found["confidence"]),
                        "share": sentence(found["right"], percent=True),
                    },
                )
                for found, (low, value, high) in known
            ),
        ],
        counts=[
            (
                Name(gettext("items")),
                {found["confidence"]: found["right"]["n"] for found, _ in known},
            )
        ],
        height=230,
    )


CHARTS: Mapping[str, Draw] = {
    "trust": trust,
    "heatmap": heatmap,
    "annotators": partial(heatmap, level="annotator"),
    "accuracy": accuracy,
    "agreeing": agreeing,
    "replacement": winning_rates,
    "cost": cost,
    "reliability": reliability,
    **{
        f"confusion-{kind}": partial(confusion, kind=kind)
        for kind in ("llm", "crowd", "expert", "model")
    },
}
