"""What a study has found, in plain words: one sentence, and the numbers behind it."""

from collections.abc import Sequence

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.predictivity import AUTHOR, CHANCE, NO_LABELS
from labelhub.core.agreement.predictivity_scores import (
    ENOUGH_USERS,
    Accuracy,
    Difference,
    Predictivity,
)
from labelhub.core.agreement.significance import LEVEL

WHOSE = {"llm": "an LLM's labels", "crowd": "the crowd's labels", "expert": "experts' labels"}
OFFLINE_LLM = "labels of the offline model, which is not an LLM,"


def percent(shown: Figure) -> str:
    """A share in words: ``43 %``."""
    value = shown["value"]
    return "–" if value is None else f"{value * 100:.0f} %"


def headline(scores: Predictivity) -> str:
    """Whether labels by others tell as much about an author as the author's own."""
    if not scores.predictions:
        return "Nothing was predicted yet."
    if _own(scores) is None:
        return "The authors' own labels take no part, so there is nothing to compare with."
    if scores.users < 2:
        return "Answers of one author say nothing about others."
    thirds = _thirds(scores)
    if not thirds:
        return "No labels by others take part, so there is no answer yet."
    if not _helps(scores):
        return (
            "Not even the authors' own labels measurably help this model, so nothing follows"
            " about who knows the authors."
        )
    return _verdict(thirds)


def detail(scores: Predictivity, *, offline_labels: bool = False) -> str:
    """The numbers behind the headline; empty where there are none."""
    own = _own(scores)
    if own is None or scores.users < 2:
        return ""
    parts = [f"Shown the authors' own labels, the model is right in {percent(own.accuracy)}."]
    for each in _thirds(scores):
        offline = each.source == "llm" and offline_labels
        parts.append(f"With {OFFLINE_LLM if offline else WHOSE[each.source]} {_against(each)}.")
    blank = _blank(scores)
    if blank is not None:
        parts.append(f"Without any examples {_against(blank)}.")
    if scores.users < ENOUGH_USERS:
        parts.append("With so few authors the intervals cover less than they say.")
    return " ".join(parts)


def _verdict(thirds: Sequence[Difference]) -> str:
    apart = [each for each in thirds if _apart(each)]
    worse = [each for each in apart if (each.difference["value"] or 0) > 0]
    if not apart:
        return "No difference can be told between the authors' own labels and those of others."
    if len(worse) == len(thirds):
        return "Labels by others tell less about an author than the author's own."
    if not worse:
        return "Labels by others tell as much about an author as the author's own, or more."
    names = " and ".join(WHOSE[each.source] for each in worse)
    return (
        f"{names[0].upper()}{names[1:]} tell less about an author than the author's own; of the"
        " others' that cannot be said."
    )


def _against(each: Difference) -> str:
    """One source against the author's labels, as far as it is known."""
    shown = each.difference
    value, low, high = shown["value"], shown.get("low"), shown.get("high")
    if value is None or low is None or high is None:
        return "too little varies to tell a difference"
    if not _apart(each):
        return (
            "no difference can be told"
            f" ({_points(-low)} more often right to {_points(high)} less often)"
        )
    near, far = sorted((abs(low), abs(high)))
    often = "less" if value > 0 else "more"
    return f"it is right {_points(abs(value))} {often} often ({_number(near)} to {_points(far)})"


def _apart(each: Difference) -> bool:
    return each.p_holm is not None and each.p_holm < LEVEL


def _helps(scores: Predictivity) -> bool:
    """Whether the authors' own labels tell the model anything; taken for granted where no study
    without examples says otherwise."""
    blank = _blank(scores)
    return blank is None or (_apart(blank) and (blank.difference["value"] or 0) > 0)


def _own(scores: Predictivity) -> Accuracy | None:
    found = (each for each in scores.accuracies if each.source == AUTHOR)
    return next((each for each in found if each.examples is None), None)


def _blank(scores: Predictivity) -> Difference | None:
    return next((each for each in _overall(scores) if each.source == NO_LABELS), None)


def _thirds(scores: Predictivity) -> list[Difference]:
    return [each for each in _overall(scores) if each.source not in (NO_LABELS, CHANCE)]


def _overall(scores: Predictivity) -> list[Difference]:
    return [each for each in scores.differences if each.examples is None]


def _points(share: float) -> str:
    return f"{_number(share)} points"


def _number(share: float) -> str:
    return f"{share * 100:.1f}".replace("-", "−")
