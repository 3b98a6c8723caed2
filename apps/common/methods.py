"""The methods of figures and the doubts about them, which reports hold in English, for a page."""

import re
from functools import cache

from django.utils.translation import gettext, gettext_noop

#: What a part of a method or doubt may be, as the core writes them; ``;`` is between parts.
TEMPLATES = (
    gettext_noop("linearised standard error over {unit}, Student's t"),
    gettext_noop("percentile bootstrap over {unit}, {draws} draws, seed {seed}"),
    gettext_noop("paired percentile bootstrap over {unit}, {draws} draws, seed {seed}"),
    gettext_noop("(of few items the value is too large)"),
    gettext_noop(
        "(moved down by twice the bias of its draws: of few items the value is too large)"
    ),
    gettext_noop("the passes of an item go together"),
    gettext_noop("the items of an author go together"),
    gettext_noop("the items of a cluster go together"),
    gettext_noop("in {number} groups"),
    gettext_noop("large-sample standard error (Fleiss, Cohen and Everitt 1969)"),
    gettext_noop("Shrout and Fleiss 1979"),
    gettext_noop("at most {number} labels of an item compared, drawn with seed {seed}"),
    gettext_noop("chance from {number} pairs of labels, drawn with seed {seed}"),
    gettext_noop("of two labels in the middle each counts half"),
    gettext_noop("mean of labels, Student's t"),
    gettext_noop("all that was paid, refused and repeated calls too, over the labels reached"),
    gettext_noop("one-sided t-test over {unit}"),
    gettext_noop("agreeing of all comparisons with others, {method}"),
    gettext_noop("Wilson over {unit}, effective number"),
    gettext_noop(
        "two-way bootstrap over {unit} and over annotators, {draws} draws each, seed {seed}, "
        "variances added, Student's t"
    ),
    gettext_noop("for these annotators"),
    gettext_noop("for other annotators like these"),
    gettext_noop("Cohen's kappa against all others together, linearised over items"),
    gettext_noop("median, interval from the order of the values"),
    gettext_noop("prediction-powered, Student's t"),
    gettext_noop("labels only, Student's t"),
    gettext_noop("Wilson, five-fold cross-validation"),
    gettext_noop("percentile bootstrap over items, {draws} draws, five-fold cross-validation"),
    gettext_noop("Student's t over random orders"),
    gettext_noop("exact McNemar test, two-sided"),
    gettext_noop("sign-flip permutation test over whole {unit}, two-sided, {how}"),
    gettext_noop(
        "sign-flip permutation test of rates by item, two-sided, {draws} flips, seed {seed}"
    ),
    gettext_noop("Cochran's Q by permutation of the kinds' answers over whole {unit}, {how}"),
    gettext_noop("Cochran's Q"),
    gettext_noop("{draws} draws, seed {seed}"),
    gettext_noop("exact"),
    gettext_noop("chi-square of many"),
    gettext_noop("tied answers share their item"),
    gettext_noop("fewer than 10 items lie outside the commonest category"),
    gettext_noop("too few items for an interval"),
    gettext_noop("too few annotators for an interval"),
    gettext_noop("no interval for other annotators"),
    gettext_noop("no interval, as nothing varies between annotators or items"),
    gettext_noop("fewer than {number} labels"),
    gettext_noop("fewer than {number} independent clicks yet"),
    gettext_noop("fewer than 20 different {unit} are drawn"),
    gettext_noop("the test is over fewer than 10 different {unit}"),
    gettext_noop("the interval takes items for independent, yet several share {unit}"),
    # What may be drawn.
    gettext_noop("items"),
    gettext_noop("authors"),
    gettext_noop("users"),
    gettext_noop("conversations"),
    gettext_noop("dialogues"),
    gettext_noop("documents"),
    gettext_noop("papers"),
    gettext_noop("threads"),
)


def method_words(method: str) -> str:
    """A method or doubt in the language of the page; what is not known stays English."""
    return "; ".join(_part_words(part) for part in method.split("; ")) if method else ""


def without_code(doubt: str) -> str:
    """A doubt without the code before its words."""
    code, colon, words = doubt.partition(": ")
    return words if colon and " " not in code else doubt


def _part_words(part: str) -> str:
    code, colon, words = part.partition(": ")
    if colon and " " not in code:
        return f"{code}: {_part_words(words)}"
    start, bracket, note = part.partition(" (")
    if bracket and f"({note}" in TEMPLATES:
        return f"{_part_words(start)} {gettext(f'({note}')}"
    for template, pattern in patterns():
        if found := pattern.fullmatch(part):
            named = {name: _part_words(value) for name, value in found.groupdict().items()}
            return gettext(template).format(**named)
    return gettext(part)


@cache
def patterns() -> list[tuple[str, re.Pattern[str]]]:
    """Each template, and the parts that it stands for."""
    found = []
    for template in TEMPLATES:
        pattern = re.escape(template)
        pattern = re.sub(r"\\{(how|method)\\}", r"(?P<\1>.+)", pattern)
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^,]+)", pattern)
        found.append((template, re.compile(pattern)))
    return found
