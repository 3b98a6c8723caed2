"""The findings of a report as a few sentences, each with its number and its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop, ngettext

from apps.agreement.charts import is_share, with_interval
from apps.agreement.report.tables import MAIN_WORDS, main_coefficient, p_words
from apps.agreement.report.truths import Report, Truth, applicable_tests, short_name, truths_of
from apps.common.figures import count_words, draw_figure, range_words, share_words
from apps.common.values import join_names, quoted
from labelhub.core.agreement.reports.other_annotators import FEW_ANNOTATORS
from labelhub.core.agreement.reports.reasons import GOLD_IMPORTED, NO_VARIATION, VIEW_NOT_KNOWN
from labelhub.core.schema import TASKS

#: Krippendorff 2019, section 12.5: enough for conclusions, and for tentative ones.
RELIABLE, TENTATIVE = 0.8, 0.667
FEW_ITEMS = 10
BEYOND_CHANCE = 0.05
#: Why the share of gold that was made with a suggestion in view is null.
GOLD_VIEW_WORDS = {
    GOLD_IMPORTED: gettext_noop(
        "The gold was imported: it is not known whether a suggestion was in view"
    ),
    VIEW_NOT_KNOWN: gettext_noop(
        "Whether a suggestion was in view when the gold was made is not known"
    ),
}
#: Machines that are named one by one.
MOST_NAMES = 4
MOST_VERDICTS = 3


@dataclass(frozen=True, slots=True)
class Sentence:
    """``kind`` is the kind it is about, or empty."""

    text: str
    kind: str = ""


def sentences(report: Report) -> list[Sentence]:
    """The most useful findings: who is right, who agrees, who may be replaced; last the quality of
    the gold."""
    found: list[Sentence | None] = []
    truths = truths_of(report)
    if truths:
        found.append(_ranking(report, truths[0]))
    else:
        words = gettext(
            "There is no reference yet: no item has gold or its author's answer. The report shows "
            "who agrees, not who is right."
        )
        found.append(Sentence(words))
    found += [_own_agreement(report, kind) for kind in report["within"]]
    # Position bias, where items bring their own options.
    for kind, bias in (report.get("position_bias") or {}).items():
        if bias["p"] is not None and bias["p"] < BEYOND_CHANCE:
            words = gettext(
                "%(name)s: some positions among the options are chosen more often than by chance "
                "(p %(p)s)."
            )
            named = {"name": short_name(report, kind), "p": p_words(bias["p"])}
            found.append(Sentence(words % named, kind))
    found += [*_replacements(report), _gold_sentence(report)]
    return [sentence for sentence in found if sentence is not None]


def _gold_sentence(report: Report) -> Sentence | None:
    figure, unknown = report["gold_in_view"], report["gold_view_unknown"]
    value = figure["value"]
    if value is None:
        words = GOLD_VIEW_WORDS.get(figure["reason"])
        return Sentence(f"{gettext(words)}.") if words else None
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


def _ranking(report: Report, truth: Truth) -> Sentence:
    shown: Mapping[str, Any] = {kind: truth.figure(kind) for kind in truth.independent}
    comparison = report["comparisons"].get(truth.by)
    written = TASKS[report["task"]].written
    # Kinds are compared on the items that all of them answered.
    together = bool(comparison and comparison["items"]) and not written and len(shown) > 1
    if together:
        shown = {kind: comparison["accuracy"][kind] for kind in shown}
    kinds = sorted(shown, key=lambda kind: -shown[kind]["value"])
    if not kinds:
        words = gettext("All who labelled here also decided: the gold cannot show who is right.")
        return Sentence(words)
    text = gettext("Majority-vote accuracy against %(truth)s: %(shares)s.")
    items = shown[kinds[0]]["n"]
    if together and any(truth.found[kind]["items"] > items for kind in kinds):
        text = gettext(
            "Majority-vote accuracy against %(truth)s on the %(items)s items that all answered: "
            "%(shares)s."
        )
    if written:
        # Hardly any free texts are equal word for word.
        text = gettext("Words shared with %(truth)s: %(shares)s.")
        items = truth.found[kinds[0]]["items"]
    percent = is_share(truth.measure)
    figures = [with_interval(draw_figure(shown[kind], percent=percent)) for kind in kinds]
    named = zip(kinds, figures, strict=True)
    shares = [f"{short_name(report, kind)} {figure}" for kind, figure in named]
    text %= {"truth": truth.name, "shares": "; ".join(shares), "items": count_words(items)}
    beaten = [_is_significant(report, truth, kinds[0], kind) for kind in kinds[1:]]
    if beaten and not beaten[0]:
        text += " " + gettext("The difference between the first two is not significant.")
    if items < FEW_ITEMS:
        words = ngettext(
            "This rests on only %(number)s item.", "This rests on only %(number)s items.", items
        )
        text += " " + words % {"number": items}
    return Sentence(text, kinds[0] if all(beaten) else "")


def _own_agreement(report: Report, kind: str) -> Sentence | None:
    name = main_coefficient(report)
    shown = report["within"][kind].get(name)
    if kind in ("author", "llm", "model") or not shown or shown["value"] is None:
        return None
    text = {
        "few": gettext("%(name)s: too few items are shared for a verdict. %(figure)s."),
        "reliable": gettext(
            "%(name)s: agreement is high enough to rely on one of them. %(figure)s."
        ),
        "tentative": gettext(
            "%(name)s: agreement is high enough for tentative conclusions. %(figure)s."
        ),
        "perhaps": gettext(
            "%(name)s: agreement is perhaps high enough for tentative conclusions. %(figure)s."
        ),
        "low": gettext("%(name)s: agreement is too low to rely on one of them. %(figure)s."),
        "open": gettext("%(name)s: without an interval there is no verdict. %(figure)s."),
    }[agreement_level(shown)]
    figure = f"{gettext(MAIN_WORDS[name])} {with_interval(draw_figure(shown))}"
    return Sentence(text % {"name": short_name(report, kind), "figure": figure}, kind)


def agreement_level(figure: Mapping[str, Any]) -> str:
    """How far to rely on labels with this coefficient, by Krippendorff's thresholds.

    The lower end of the interval decides, not the value, which may be luck: ``reliable``,
    ``tentative``, ``perhaps`` (the value alone reaches the threshold) or ``low``; ``few`` items;
    ``open`` with too few annotators for an interval; ``alike`` if all labels are the same, and
    ``unknown`` without another figure.
    """
    value, low = figure["value"], figure.get("low")
    if value is None:
        return "alike" if figure["reason"] == NO_VARIATION else "unknown"
    if low is None and figure.get("doubt") == FEW_ANNOTATORS:
        return "open"
    if figure["n"] < FEW_ITEMS or (low is None and value >= TENTATIVE):
        return "few"
    if low is None:
        return "low"
    if low >= TENTATIVE:
        return "reliable" if low >= RELIABLE else "tentative"
    return "perhaps" if value >= TENTATIVE else "low"


def _replacements(report: Report) -> list[Sentence]:
    """A sentence for machines of one verdict by equally many people; one for the unknown."""
    tests, by_author = applicable_tests(report), report["alt_test_by_author"]
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
    text = gettext(
        "May not stand in for people: %(names)s (as good as %(number)s of %(tested)s compared; "
        "half is enough)."
    )
    if first["passes"]:
        text = gettext(
            "May stand in for people: %(names)s (as good as %(number)s of %(tested)s compared; "
            "half is enough)."
        )
    tested = count_words(first["tested"])
    text %= {"names": _join_names(list(chosen)), "number": number, "tested": tested}
    denied = [name for name in chosen if by_author.get(name, {}).get("passes") is False]
    if first["passes"] and denied:
        text += " " + gettext("Not by the author's own answer: %(names)s.") % {
            "names": _join_names(denied)
        }
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


def _is_significant(report: Report, truth: Truth, better: str, other: str) -> bool:
    """Whether ``better`` is significantly better than ``other`` on the items of both, by the test
    among all pairs and by the paired interval; of free texts by their own intervals."""
    if TASKS[report["task"]].written:
        low, high = truth.figure(better).get("low"), truth.figure(other).get("high")
        return low is not None and high is not None and bool(low > high)
    comparison = report["comparisons"].get(truth.by, {"pairs": []})
    for pair in comparison["pairs"]:
        if {pair["a"], pair["b"]} == {better, other}:
            low, high = pair["difference"].get("low"), pair["difference"].get("high")
            return bool(pair["reliable"]) and None not in (low, high) and low * high > 0
    return False
