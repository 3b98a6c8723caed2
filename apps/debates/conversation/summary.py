"""The summary of a debate: verdict, gold, first opinion, certainty and cost, in plain words."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, gettext_noop

from apps.common.figures import localise
from apps.debates.models import Debate, Turn
from apps.debates.naming import reason_words, role_name
from apps.labels.models import Gold
from labelhub.core.debate.signals import NO_MARGIN


@dataclass(frozen=True, slots=True)
class Fact:
    """A signal: its title, its number, and what the number means."""

    title: str
    number: str
    words: str


@dataclass(frozen=True, slots=True)
class DebateSummary:
    """The head of a debate's page.

    Attributes:
        agrees: whether the value is the gold; None without one of them.
        turned: how the value differs from the first opinion: "better" or "worse" by the gold,
            "changed" if the gold does not tell, "" if they are the same.
        noticed: flags that are not among the reasons.
    """

    value: Any
    gold: Gold | None
    agrees: bool | None
    first: Any
    turned: str
    noticed: tuple[str, ...]
    facts: tuple[Fact, ...]
    tokens_in: int
    tokens_out: int
    cost_nanousd: int | None
    seconds: float
    calls: int
    reused: int


def verdict_of(debate: Debate) -> Any:
    """The value of the debate; for old debates without a stored value, that of their label."""
    if debate.value is None and debate.label is not None:
        return debate.label.value
    return debate.value


def gold_of(debate: Debate) -> Gold | None:
    """The item's present gold, for a debate that ``selectors`` loaded."""
    state = getattr(debate.item, "state", None)
    gold: Gold | None = state.gold if state else None
    return gold


def same_value(first: Any, other: Any) -> bool:
    """Whether two values are the same; the order of several labels does not matter."""
    if isinstance(first, list) and isinstance(other, list):
        return set(map(str, first)) == set(map(str, other))
    return type(first) is not list and bool(first == other)


def opinion_change(first: Any, value: Any, gold: Any) -> str:
    """How the final value compares with the first opinion: better, worse, changed or ""."""
    if first is None or value is None or same_value(first, value):
        return ""
    if gold is not None and same_value(value, gold):
        return "better"
    return "worse" if gold is not None and same_value(first, gold) else "changed"


def summarize_debate(debate: Debate) -> DebateSummary:
    """The summary of ``debate``, whose turns are loaded."""
    turns: list[Turn] = list(debate.turns.all())
    value, gold = verdict_of(debate), gold_of(debate)
    first = debate.signals.get("first")
    costs = [turn.cost_nanousd for turn in turns]
    known = None not in costs
    return DebateSummary(
        value=value,
        gold=gold,
        agrees=same_value(value, gold.value) if gold is not None and value is not None else None,
        first=first,
        turned=opinion_change(first, value, gold.value if gold else None),
        noticed=tuple(flag for flag in debate.flags if flag not in debate.reasons),
        facts=tuple(_facts(debate)),
        tokens_in=sum(turn.tokens_in for turn in turns),
        tokens_out=sum(turn.tokens_out for turn in turns),
        cost_nanousd=sum(cost or 0 for cost in costs) if known else None,
        seconds=sum(turn.seconds for turn in turns),
        calls=len(turns),
        reused=sum(turn.reused for turn in turns),
    )


def doubt_words(debate: Debate, settings_of_run: Mapping[str, Any]) -> tuple[str, ...]:
    """The reasons why a cascade ran its second protocol."""
    first_stage = debate.signals.get("first_stage")
    first: Mapping[str, Any] = first_stage if isinstance(first_stage, Mapping) else {}
    words = {
        "no label": gettext("the first protocol gave no label"),
        "d_rate": gettext(
            "the most frequent answer leads by only %(share)s of the votes (up to %(bound)s is "
            "doubtful)"
        )
        % {"share": _number(first.get("d_rate")), "bound": _number(settings_of_run.get("theta"))},
        "margin": gettext(
            "the probability margin of its label is only %(margin)s (below %(bound)s is doubtful)"
        )
        % {
            "margin": _number(first.get("margin")),
            "bound": _number(settings_of_run.get("margin")),
        },
    }
    doubts = debate.signals.get("doubts")
    found = doubts if isinstance(doubts, list) else []
    return tuple(words.get(str(doubt)) or reason_words(str(doubt)) for doubt in found)


def _facts(debate: Debate) -> Iterable[Fact]:
    if debate.status == Debate.Status.WAITING:
        return
    signals = debate.signals
    if debate.uncertainty is None:
        why = NO_MARGIN.get(str(signals.get("margin_unknown")))
        words = gettext(why) if why else gettext("the debate has no measure of it")
        yield Fact(gettext("Uncertainty"), gettext("unknown"), words)
    else:
        words = gettext("from 0 (certain) to 1 (undecided)")
        yield Fact(gettext("Uncertainty"), _number(debate.uncertainty), words)
    for signal, (title, meaning) in _NUMBERS.items():
        if _is_number(signals.get(signal)):
            words = meaning(signals, signals[signal])
            yield Fact(gettext(title), _number(signals[signal]), words)
    yield from _flips(signals.get("flips"))
    if signals.get("injection"):
        found = ", ".join(str(code).replace("_", " ") for code in signals["injection"])
        yield Fact(gettext("Signs of prompt injection"), str(len(signals["injection"])), found)


def _flips(flips: Any) -> Iterable[Fact]:
    for role, names in flips.items() if isinstance(flips, Mapping) else ():
        about = {"role": role_name(str(role)), "labels": ", ".join(map(str, names))}
        words = gettext("the judge agrees with the %(role)s")
        if names:
            words = gettext("the judge disagrees about %(labels)s")
        title = gettext("Differences between %(role)s and judge") % about
        yield Fact(title, str(len(names)), words % about)


def _lead(signals: Mapping[str, Any], rate: float) -> str:
    votes = signals.get("votes")
    asked = sum(vote[1] for vote in votes) if isinstance(votes, list) else 0
    if not asked:
        return gettext("the share of the votes by which the most frequent answer leads the second")
    words = gettext("the most frequent answer leads the second by %(votes)s of %(all)s votes")
    if any(isinstance(vote[0], list) for vote in votes or ()):
        words = gettext("the most contested label was decided by %(votes)s of %(all)s votes")
    return words % {"votes": round(rate * asked), "all": asked}


#: Numeric signals: their title and the meaning of a number.
_NUMBERS: Mapping[str, tuple[str, Callable[[Mapping[str, Any], float], str]]] = {
    "d_rate": (gettext_noop("Lead of the first answer (D_rate)"), _lead),
    "first_d_rate": (gettext_noop("Lead before the discussion"), _lead),
    "entropy": (
        gettext_noop("Entropy of the votes"),
        lambda _, entropy: (
            gettext(
                "from 0 (all votes are the same) to 1 (the votes are evenly spread over all "
                "answers)"
            )
            if entropy
            else gettext("all votes are the same")
        ),
    ),
    "margin": (
        gettext_noop("Probability margin"),
        lambda *_: gettext(
            "from 0 (another answer is just as probable) to 1 (no other answer is possible)"
        ),
    ),
    "rounds_needed": (
        gettext_noop("Rounds of discussion"),
        lambda _, rounds: (
            gettext("until all annotators agreed or no round was left")
            if rounds
            else gettext("the annotators agreed before any discussion")
        ),
    ),
    "judge_changes": (
        gettext_noop("Changes from judge to judge"),
        lambda _, changes: (
            gettext("the number of verdicts that differ from the verdict before")
            if changes
            else gettext("all judges reached the same verdict")
        ),
    ),
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> str:
    return localise(f"{round(value, 2):g}") if _is_number(value) else "—"
