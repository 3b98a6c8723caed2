"""The findings of a report as a few sentences, each with its number and its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext

from apps.agreement.charts import interval_words, with_interval
from apps.agreement.report.services import GOLD_IMPORTED, NOT_KNOWN
from apps.agreement.report.tables import MAIN_WORDS, main_coefficient, p_words
from apps.agreement.report.truths import Report, Truth, name_of, truths_of
from apps.common.figures import count_words, draw_figure, number_words, range_words, share_words
from apps.common.values import join_names, quoted
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
        words = gettext(
            "Nobody knows the truth here yet: no item has gold or its author's answer. The report "
            "shows who agrees, not who is right."
        )
        found.append(Sentence(words))
    found += [_own_agreement(report, kind) for kind in report["within"]]
    if truths:
        found.append(_hardest_label(report, truths[0]))
    # Position bias, where items bring their own options.
    for kind, bias in (report.get("position_bias") or {}).items():
        if bias["p"] is not None and bias["p"] < BEYOND_CHANCE:
            words = ngettext(
                "%(name)s prefers some positions among the options more often than by chance "
                "(p %(p)s).",
                "%(name)s prefer some positions among the options more often than by chance "
                "(p %(p)s).",
                _number(kind),
            )
            named = {"name": _subject(report, kind), "p": p_words(bias["p"])}
            found.append(Sentence(words % named, kind))
    found += [*_replacements(report), _gold_sentence(report)]
    return [sentence for sentence in found if sentence is not None]


def _gold_sentence(report: Report) -> Sentence | None:
    figure, unknown = report["gold_in_view"], report["gold_view_unknown"]
    value = figure["value"]
    if value is None:
        known = figure["reason"] in (GOLD_IMPORTED, NOT_KNOWN)
        return Sentence(f"{gettext(figure['reason'])}.") if known else None
    items = figure["n"]
    if value:
        text = gettext(
            "%(share)s of the gold decided here was made with a suggestion in view (%(number)s of "
            "%(items)s); measured by it, the suggesting annotator may look better than it is."
        )
    else:
        text = gettext(
            "None of the gold decided here was made with a suggestion in view (0 of %(items)s)."
        )
    text %= {
        "share": share_words(value),
        "number": count_words(round(value * items)),
        "items": count_words(items),
    }
    if unknown:
        text += " " + gettext("Of %(number)s more it is not known.") % {
            "number": count_words(unknown)
        }
    return Sentence(text)


def percent(figure: Mapping[str, Any]) -> str:
    """``84 % (79 to 88)``."""
    return with_interval(draw_figure(figure, percent=True))


def _number(kind: str) -> int:
    """The grammatical number of a kind's name, for ``ngettext``."""
    return 2 if kind == "expert" else 1


def _subject(report: Report, kind: str) -> str:
    """The kind at the beginning of a sentence."""
    return capfirst(name_of(report, kind))


def _ranking(report: Report, truth: Truth) -> Sentence:
    kinds = sorted(truth.independent, key=lambda kind: -truth.figure(kind)["value"])
    if not kinds:
        words = gettext("All who labelled here also decided: the gold cannot show who is right.")
        return Sentence(words)
    if TASKS[report["task"]].written:
        return _nearest_texts(report, truth, kinds)
    best = kinds[0]
    shown = truth.figure(best)
    if len(kinds) > 1:
        text = ngettext(
            "%(name)s is right most often about %(truth)s: %(shares)s.",
            "%(name)s are right most often about %(truth)s: %(shares)s.",
            _number(best),
        )
    else:
        text = ngettext(
            "%(name)s is right about %(truth)s: %(shares)s.",
            "%(name)s are right about %(truth)s: %(shares)s.",
            _number(best),
        )
    rest = [f"{name_of(report, kind)} {percent(truth.figure(kind))}" for kind in kinds[1:]]
    shares = "; ".join(filter(None, [percent(shown), ", ".join(rest)]))
    text %= {"name": _subject(report, best), "truth": truth.words, "shares": shares}
    if rest and not _is_reliable(report, truth, best, kinds[1]):
        text += " " + gettext("The difference between the first two is not significant.")
    return Sentence(text + _rests_on(shown["n"]), best)


def _rests_on(items: int) -> str:
    """A further sentence if these are few."""
    if items >= FEW_ITEMS:
        return ""
    words = ngettext(
        "This rests on only %(number)s item.", "This rests on only %(number)s items.", items
    )
    return " " + words % {"number": items}


def _nearest_texts(report: Report, truth: Truth, kinds: Sequence[str]) -> Sentence:
    """The ranking of free texts by shared words: hardly any are equal word for word."""
    best, figures = kinds[0], [truth.figure(kind) for kind in kinds]
    drawn = [draw_figure(shown, percent=True) for shown in figures]
    doubts = [f" ({interval_words(figure)})" if figure.low else "" for figure in drawn]
    if len(kinds) > 1:
        text = gettext(
            "The texts of %(name)s are nearest to %(truth)s: %(share)s of words shared%(interval)s"
        )
    else:
        text = gettext(
            "The texts of %(name)s are like %(truth)s: %(share)s of words shared%(interval)s"
        )
    text %= {
        "name": name_of(report, best),
        "truth": truth.words,
        "share": drawn[0].value,
        "interval": doubts[0],
    }
    for kind, figure, doubt in list(zip(kinds, drawn, doubts, strict=True))[1:]:
        named = {"name": name_of(report, kind), "share": f"{figure.value}{doubt}"}
        text += "; " + gettext("of %(name)s %(share)s") % named
    text += "."
    low, high = figures[0].get("low"), figures[1].get("high") if len(kinds) > 1 else 0
    if len(kinds) > 1 and (low is None or high is None or low <= high):
        text += " " + gettext(
            "The difference between the first two is not significant: their intervals overlap."
        )
    return Sentence(text + _rests_on(truth.found[best]["items"]), best)


def _own_agreement(report: Report, kind: str) -> Sentence | None:
    name = main_coefficient(report)
    shown = report["within"][kind].get(name)
    if kind in ("author", "llm", "model") or not shown or shown["value"] is None:
        return None
    drawn = draw_figure(shown)
    figure = f"{gettext(MAIN_WORDS[name])} {drawn.value}"
    if drawn.low:
        figure = gettext("%(figure)s, %(low)s to %(high)s") % {
            "figure": figure,
            "low": drawn.low,
            "high": drawn.high,
        }
    number = _number(kind)
    level = "percent" if name == "percent" else agreement_level(shown)
    text = {
        "percent": ngettext(
            "%(name)s agrees among themselves on %(share)s of pairs of labels.",
            "%(name)s agree among themselves on %(share)s of pairs of labels.",
            number,
        ),
        "few": ngettext(
            "%(name)s does not share enough items to show how far to rely on a single one "
            "(%(figure)s).",
            "%(name)s do not share enough items to show how far to rely on a single one "
            "(%(figure)s).",
            number,
        ),
        "reliable": ngettext(
            "%(name)s agrees among themselves well enough to rely on one of them (%(figure)s).",
            "%(name)s agree among themselves well enough to rely on one of them (%(figure)s).",
            number,
        ),
        "tentative": ngettext(
            "%(name)s agrees among themselves enough for tentative conclusions (%(figure)s).",
            "%(name)s agree among themselves enough for tentative conclusions (%(figure)s).",
            number,
        ),
        "perhaps": ngettext(
            "%(name)s agrees among themselves, perhaps enough for tentative conclusions "
            "(%(figure)s).",
            "%(name)s agree among themselves, perhaps enough for tentative conclusions "
            "(%(figure)s).",
            number,
        ),
        "low": ngettext(
            "%(name)s does not agree among themselves enough to rely on a single one (%(figure)s).",
            "%(name)s do not agree among themselves enough to rely on a single one (%(figure)s).",
            number,
        ),
    }[level]
    named = {"name": _subject(report, kind), "figure": figure, "share": percent(shown)}
    return Sentence(text % named, kind)


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
    text = gettext("“%(label)s” is the label with most errors: F1 %(values)s.")
    return Sentence(text % {"label": label, "values": values})


def _replacements(report: Report) -> list[Sentence]:
    """A sentence for machines of one verdict by equally many people; one for the unknown."""
    tests, by_author = report["alt_test"], report["alt_test_by_author"]
    known = {name: test for name, test in tests.items() if test["winning_rate"] is not None}
    unknown = [name for name in tests if name not in known]
    groups: dict[tuple[bool, int], dict[str, Any]] = {}
    for name, test in known.items():
        groups.setdefault((not test["passes"], test["tested"]), {})[name] = test
    found = [_verdict(groups[key], by_author) for key in sorted(groups)][:MOST_VERDICTS]
    if unknown and not known:
        humans = tests[unknown[0]]["humans"]
        lacking = [human["lacking"] for human in humans if human["lacking"]]
        if lacking:
            text = gettext(
                "Whether %(names)s may stand in for people is not known yet: it needs 30 items "
                "that two people labelled; the nearest annotator lacks %(number)s."
            )
        else:
            text = gettext(
                "Whether %(names)s may stand in for people is not known yet: no item has labels of "
                "two people too."
            )
        named = {"names": _join_names(unknown), "number": count_words(min(lacking, default=0))}
        found.append(Sentence(text % named, tests[unknown[0]]["kind"]))
    return found


def _verdict(chosen: Mapping[str, Any], by_author: Mapping[str, Any]) -> Sentence:
    """A sentence on machines with the same verdict, compared with equally many people."""
    first = next(iter(chosen.values()))
    beaten = [round(test["winning_rate"] * test["tested"]) for test in chosen.values()]
    number = count_words(min(beaten))
    if len(set(beaten)) > 1:
        number = range_words(number, count_words(max(beaten)))
    if first["passes"]:
        text = ngettext(
            "%(names)s may stand in for people: as good as %(number)s of %(tested)s of them, where "
            "half would do.",
            "%(names)s may stand in for people: as good as %(number)s of %(tested)s of them, where "
            "half would do.",
            len(chosen),
        )
    else:
        text = ngettext(
            "%(names)s may not stand in for people: as good as %(number)s of %(tested)s of them, "
            "where half would do.",
            "%(names)s may not stand in for people: as good as %(number)s of %(tested)s of them, "
            "where half would do.",
            len(chosen),
        )
    tested = count_words(first["tested"])
    text %= {"names": _join_names(list(chosen)), "number": number, "tested": tested}
    denied = [name for name in chosen if by_author.get(name, {}).get("passes") is False]
    if first["passes"] and denied:
        text += " " + ngettext(
            "Measured by the author's own answer %(names)s may not.",
            "Measured by the author's own answer %(names)s may not.",
            len(denied),
        ) % {"names": _join_names(denied)}
    if first["lacking_annotators"]:
        text += " " + gettext(
            "With fewer than three people to compare with, this is only an indication."
        )
    return Sentence(text, first["kind"])


def _join_names(names: Sequence[str]) -> str:
    shown = [quoted(name) for name in names[:MOST_NAMES]]
    if len(names) > MOST_NAMES:
        rest = {"names": ", ".join(shown), "rest": len(names) - MOST_NAMES}
        return gettext("%(names)s and %(rest)s more") % rest
    return join_names(shown)


def _is_reliable(report: Report, truth: Truth, better: str, other: str) -> bool:
    """Whether ``better`` is significantly better than ``other`` on the items of both, by the test
    among all pairs and by the paired interval."""
    comparison = report["comparisons"].get(truth.by, {"pairs": []})
    for pair in comparison["pairs"]:
        if {pair["a"], pair["b"]} == {better, other}:
            low, high = pair["difference"].get("low"), pair["difference"].get("high")
            return bool(pair["reliable"]) and None not in (low, high) and low * high > 0
    return False
