"""The findings of a report as a few sentences, each with its number and its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from apps.agreement.report.services import GOLD_IMPORTED, NOT_KNOWN
from apps.agreement.report.tables import MAIN_WORDS, main_coefficient, p_words
from apps.agreement.report.truths import Report, Truth, name_of, truths_of
from apps.common.figures import draw_figure, number_words, share_words
from labelhub.core.agreement.reports.reasons import NO_VARIATION
from labelhub.core.schema import TASKS

#: Krippendorff 2019, section 12.5: enough for conclusions, and for tentative ones.
RELIABLE, TENTATIVE = 0.8, 0.667
FEW_ITEMS = 10
#: A label with such an F1 is not hard.
HARDLY_HARD = 0.95
BEYOND_CHANCE = 0.05
#: Machines that are named one by one.
MOST_NAMES = 4
MOST_VERDICTS = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """``kind`` is the kind it is about, or empty."""

    text: str
    kind: str = ""


def sentences(report: Report) -> list[Sentence]:
    """The most useful findings: who is right, who agrees, the hardest label, who may be replaced;
    last the quality of the gold."""
    found: list[Sentence | None] = []
    truths = truths_of(report)
    if truths:
        found.append(_ranking(report, truths[0]))
    else:
        words = "Nobody knows the truth here yet: no item has gold or its author's answer."
        found.append(Sentence(f"{words} The report shows who agrees, not who is right."))
    found += [_own_agreement(report, kind) for kind in report["within"]]
    if truths:
        found.append(_hardest_label(report, truths[0]))
    # Position bias, where items bring their own options.
    found += [
        Sentence(
            f"{_capital(name_of(report, kind))} {'prefer' if kind == 'expert' else 'prefers'} some "
            f"positions among the options more often than by chance (p {p_words(bias['p'])}).",
            kind,
        )
        for kind, bias in (report.get("position_bias") or {}).items()
        if bias["p"] is not None and bias["p"] < BEYOND_CHANCE
    ]
    found += [*_replacements(report), _gold_sentence(report)]
    return [sentence for sentence in found if sentence is not None]


def _gold_sentence(report: Report) -> Sentence | None:
    figure, unknown = report["gold_in_view"], report["gold_view_unknown"]
    value = figure["value"]
    if value is None:
        known = figure["reason"] in (GOLD_IMPORTED, NOT_KNOWN)
        return Sentence(f"{figure['reason']}.") if known else None
    items = figure["n"]
    apart = f" Of {unknown:,} more it is not known." if unknown else ""
    if not value:
        words = "None of the gold decided here was made with a suggestion in view"
        return Sentence(f"{words} (0 of {items:,}).{apart}")
    return Sentence(
        f"{share_words(value)} of the gold decided here was made with a suggestion in view "
        f"({round(value * items):,} of {items:,}); measured by it, the suggesting annotator "
        f"may look better than it is.{apart}"
    )


def percent(figure: Mapping[str, Any]) -> str:
    """``84 % (79 to 88)``."""
    drawn = draw_figure(figure, percent=True)
    return f"{drawn.value} ({drawn.low} to {drawn.high})" if drawn.low else drawn.value


def _ranking(report: Report, truth: Truth) -> Sentence:
    kinds = sorted(truth.independent, key=lambda kind: -truth.figure(kind)["value"])
    if not kinds:
        return Sentence("All who labelled here also decided: the gold cannot show who is right.")
    if TASKS[report["task"]].written:
        return _nearest_texts(report, truth, kinds)
    best = kinds[0]
    shown = truth.figure(best)
    name = _capital(name_of(report, best))
    most = " most often" if len(kinds) > 1 else ""
    verb = "are" if best == "expert" else "is"
    first = f"{name} {verb} right{most} about {truth.words}: {percent(shown)}"
    rest = [f"{name_of(report, kind)} {percent(truth.figure(kind))}" for kind in kinds[1:]]
    text = f"{first}; {', '.join(rest)}." if rest else f"{first}."
    if rest and not _is_reliable(report, truth, best, kinds[1]):
        text += " The difference between the first two is not significant."
    if shown["n"] < FEW_ITEMS:
        text += f" This rests on only {shown['n']} items."
    return Sentence(text, best)


def _nearest_texts(report: Report, truth: Truth, kinds: Sequence[str]) -> Sentence:
    """The ranking of free texts by shared words: hardly any are equal word for word."""
    best, figures = kinds[0], [truth.figure(kind) for kind in kinds]
    drawn = [draw_figure(shown, percent=True) for shown in figures]
    doubts = [f" ({figure.low} to {figure.high})" if figure.low else "" for figure in drawn]
    nearest = "nearest to" if len(kinds) > 1 else "like"
    text = f"The texts of {name_of(report, best)} are {nearest} {truth.words}: "
    text += f"{drawn[0].value} of words shared{doubts[0]}"
    for kind, figure, doubt in list(zip(kinds, drawn, doubts, strict=True))[1:]:
        text += f"; of {name_of(report, kind)} {figure.value}{doubt}"
    low, high = figures[0].get("low"), figures[1].get("high") if len(kinds) > 1 else 0
    if len(kinds) > 1 and (low is None or high is None or low <= high):
        text += ". The difference between the first two is not significant: their intervals overlap"
    items = truth.found[best]["items"]
    few = f" This rests on only {items} items." if items < FEW_ITEMS else ""
    return Sentence(f"{text}.{few}", best)


def _own_agreement(report: Report, kind: str) -> Sentence | None:
    name = main_coefficient(report)
    shown = report["within"][kind].get(name)
    if kind in ("author", "llm", "model") or not shown or shown["value"] is None:
        return None
    words = MAIN_WORDS[name]
    subject = _capital(name_of(report, kind))
    agree, do = ("agree", "do") if kind == "expert" else ("agrees", "does")
    drawn = draw_figure(shown)
    number = f"{words} {drawn.value}{f', {drawn.low} to {drawn.high}' if drawn.low else ''}"
    if name == "percent":
        verdict = f"{agree} among themselves on {percent(shown)} of pairs of labels"
        return Sentence(f"{subject} {verdict}.", kind)
    verdict = {
        "few": f"{do} not share enough items to show how far to rely on a single one",
        "reliable": f"{agree} among themselves well enough to rely on one of them",
        "tentative": f"{agree} among themselves enough for tentative conclusions",
        "perhaps": f"{agree} among themselves, perhaps enough for tentative conclusions",
        "low": f"{do} not agree among themselves enough to rely on a single one",
    }[agreement_level(shown)]
    return Sentence(f"{subject} {verdict} ({number}).", kind)


def agreement_level(figure: Mapping[str, Any]) -> str:
    """How far to rely on labels with this coefficient, by Krippendorff's thresholds.

    The lower end of the interval decides, not the value, which may be luck: ``reliable``,
    ``tentative``, ``perhaps`` (the value alone reaches the threshold) or ``low``; ``few`` items;
    ``alike`` if all labels are the same, and ``unknown`` without another figure.
    """
    value, low = figure["value"], figure.get("low")
    if value is None:
        return "alike" if figure["reason"] == NO_VARIATION else "unknown"
    if low is None or figure["n"] < FEW_ITEMS:
        return "few"
    if low >= TENTATIVE:
        return "reliable" if low >= RELIABLE else "tentative"
    return "perhaps" if value >= TENTATIVE else "low"


def _hardest_label(report: Report, truth: Truth) -> Sentence | None:
    rows = [
        (label["f1"]["value"], label["label"], kind)
        for kind in truth.kinds
        if kind in ("crowd", "expert", "llm")
        for label in truth.found[kind]["per_label"]
        if label["f1"]["value"] is not None
    ]
    by_label: dict[str, list[tuple[float, str]]] = {}
    for value, label, kind in rows:
        by_label.setdefault(label, []).append((value, kind))
    if len(by_label) < 2 or truth.figure(rows[0][2])["n"] < FEW_ITEMS:
        return None
    label, scores = min(by_label.items(), key=lambda entry: fmean(value for value, _ in entry[1]))
    if fmean(value for value, _ in scores) >= HARDLY_HARD:
        return None
    wrong = [(value, kind) for value, kind in scores if value < HARDLY_HARD]
    values = ", ".join(f"{name_of(report, kind)} {number_words(value)}" for value, kind in wrong)
    return Sentence(f"“{label}” is the label with most errors: F1 {values}.")


def _replacements(report: Report) -> list[Sentence]:
    """A sentence for machines of one verdict by equally many people; one for the unknown."""
    tests, by_author = report["alt_test"], report["alt_test_by_author"]
    part = " in this part of the labels" if report["slice"] else ""
    known = {name: test for name, test in tests.items() if test["winning_rate"] is not None}
    unknown = [name for name in tests if name not in known]
    groups: dict[tuple[bool, int], dict[str, Any]] = {}
    for name, test in known.items():
        groups.setdefault((not test["passes"], test["tested"]), {})[name] = test
    found = [_verdict(groups[key], by_author, part) for key in sorted(groups)][:MOST_VERDICTS]
    if unknown and not known:
        humans = tests[unknown[0]]["humans"]
        lacking = [human["lacking"] for human in humans if human["lacking"]]
        missing = "no item has labels of two people too."
        if lacking:
            missing = "it needs 30 items that two people labelled; the nearest annotator lacks "
            missing += f"{min(lacking):,}."
        may = f"may stand in for people{part}"
        words = f"Whether {_join_names(unknown)} {may} is not known yet: {missing}"
        found.append(Sentence(words, tests[unknown[0]]["kind"]))
    return found


def _verdict(chosen: Mapping[str, Any], by_author: Mapping[str, Any], part: str) -> Sentence:
    """A sentence on machines with the same verdict, compared with equally many people.

    ``part``: words for a part of the labels, or empty.
    """
    first = next(iter(chosen.values()))
    beaten = [round(test["winning_rate"] * test["tested"]) for test in chosen.values()]
    number = f"{beaten[0]:,}" if len(set(beaten)) == 1 else f"{min(beaten):,} to {max(beaten):,}"
    may = "may" if first["passes"] else "may not"
    text = f"{_join_names(list(chosen))} {may} stand in for people{part}: as good as {number} of "
    text += f"{first['tested']:,} of them, where half would do."
    denied = [name for name in chosen if by_author.get(name, {}).get("passes") is False]
    if first["passes"] and denied:
        text += f" Measured by the author's own answer {_join_names(denied)} may not."
    if first["lacking_annotators"]:
        text += " With fewer than three people to compare with, this is only an indication."
    return Sentence(text, first["kind"])


def _join_names(names: Sequence[str]) -> str:
    shown = [f"“{name}”" for name in names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        return f"{', '.join(shown)} and {len(names) - MOST_NAMES} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else shown[0]


def _is_reliable(report: Report, truth: Truth, better: str, other: str) -> bool:
    """Whether ``better`` is significantly better than ``other`` on the items of both, by the test
    among all pairs and by the paired interval."""
    comparison = report["comparisons"].get(truth.by, {"pairs": []})
    for pair in comparison["pairs"]:
        if {pair["a"], pair["b"]} == {better, other}:
            low, high = pair["difference"].get("low"), pair["difference"].get("high")
            return bool(pair["reliable"]) and None not in (low, high) and low * high > 0
    return False


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
