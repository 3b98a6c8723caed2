"""Why a sample failed and why a promise ended, in plain words."""

from apps.agreement.automation.judging import Verdict, judge, sample_of
from apps.agreement.automation.promise import may_allow_more
from apps.agreement.models import Guarantee

Ending = Guarantee.Ending
FAILURES = {
    "too_few_labels": "Too few of the sample would be accepted by any bound to bear the promise "
    "out. Debate more items and draw a larger sample{or_more}.",
    "errors_above_target": "At the first bound that the sample can test, too many were wrong "
    "already. {more_or} the debate: a clearer guideline, another protocol or model.",
}
#: What to do beside the rest, where more errors can be promised, and where they cannot.
ADVICE = {
    True: {"or_more": ", or allow more errors", "more_or": "Allow more errors, or improve"},
    False: {"or_more": "", "more_or": "Improve"},
}
ONCE = "Drawing again until one passes promises more than it keeps."
ENDINGS = {
    Ending.SWITCHED_OFF: "It was switched off by hand. The routing rule and the review "
    "plan are what they were before it.",
    Ending.ABANDONED: "The sample was given up before anything was switched on.",
    Ending.BROKEN: "The blind audit found more errors than were promised. Everything "
    "goes to people again, and what was accepted meanwhile waits for them.",
    Ending.OTHER_DEBATES: "A run with another protocol, model, prompt or schema labels "
    "now; the sample says nothing about it. Everything goes to people again.",
    Ending.RULE_CHANGED: "The routing rule was changed by hand. What it accepts now is "
    "accepted without a promise.",
    Ending.LABELS_CHANGED: "Labels were merged, split or retired; the sample says nothing about "
    "those of today. Everything goes to people again.",
    Ending.PLAN_CHANGED: "The review plan was changed by hand: everything goes to "
    "people, so nothing is left to promise.",
}


def failure_words(target: float, verdict: Verdict | None) -> str:
    """Why a judged sample does not bear its promise out, and what to do; empty where it does."""
    if verdict is None or verdict.choice.chosen:
        return ""
    return FAILURES[verdict.choice.reason].format(**ADVICE[may_allow_more(target)])


def failure_of(guarantee: Guarantee) -> str:
    """The same by the row; empty too for a sample that was never judged. No query."""
    if guarantee.verdict is None:
        return ""
    return failure_words(guarantee.target, judge(guarantee, sample_of(guarantee)))


def ending_words(guarantee: Guarantee) -> str:
    """Why a promise ended and what became of the items."""
    words = ENDINGS[Ending(guarantee.ending)]
    if not failure_of(guarantee):
        return words
    return (
        f"The sample had failed: at most {_percent(guarantee.target)} wrong was to be borne out at "
        f"a confidence of {_percent(guarantee.confidence)}, and {wrong_words(guarantee)}. It was "
        f"given up after that. {ONCE}"
    )


def ending_in_short(guarantee: Guarantee) -> str:
    """The same in a row of a table."""
    words = guarantee.get_ending_display()
    if not failure_of(guarantee):
        return words
    return f"The sample failed, {wrong_words(guarantee)}; it was given up"


def wrong_words(guarantee: Guarantee) -> str:
    """How many of a judged sample were wrong."""
    wrong, labelled = guarantee.wrong or 0, len(sample_of(guarantee).known)
    return f"{wrong:,} of {labelled:,} {'was' if wrong == 1 else 'were'} wrong"


def _percent(share: float) -> str:
    return f"{100 * share:.4g} %"
