"""What came of a debate: verdict, gold, first opinion, how sure, what it took; in plain words."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.debates.models import Debate, Turn
from apps.debates.naming import reason_words
from apps.labels.models import Gold
from labelhub.core.debate.signals import NO_MARGIN


@dataclass(frozen=True, slots=True)
class Fact:
    """A signal: its title, the number where there is one, and what that means here."""

    title: str
    number: str
    words: str


@dataclass(frozen=True, slots=True)
class DebateSummary:
    """The head of a debate's page. ``agrees`` is None where there is nothing to compare.

    ``turned`` is "better" or "worse" where gold tells, "changed" where it does not, "" where the
    first opinion stood. ``noticed`` are flags that are no reasons.
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
    """What the debate concluded; of debates before that was kept, what it put down."""
    if debate.value is None and debate.label is not None:
        return debate.label.value
    return debate.value


def gold_of(debate: Debate) -> Gold | None:
    """The item's gold as it stands, of a debate read by ``selectors``."""
    state = getattr(debate.item, "state", None)
    gold: Gold | None = state.gold if state else None
    return gold


def same_value(first: Any, other: Any) -> bool:
    """Whether two values say the same; sets of labels in any order."""
    if isinstance(first, list) and isinstance(other, list):
        return set(map(str, first)) == set(map(str, other))
    return type(first) is not list and bool(first == other)


def opinion_change(first: Any, value: Any, gold: Any) -> str:
    """How the final value stands to the first opinion: better, worse, changed or ""."""
    if first is None or value is None or same_value(first, value):
        return ""
    if gold is not None and same_value(value, gold):
        return "better"
    return "worse" if gold is not None and same_value(first, gold) else "changed"


def summarize_debate(debate: Debate) -> DebateSummary:
    """What came of ``debate``, whose turns are loaded."""
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
    """Why a cascade asked its second protocol."""
    first_stage = debate.signals.get("first_stage")
    first: Mapping[str, Any] = first_stage if isinstance(first_stage, Mapping) else {}
    words = {
        "no label": "the first answer gives no label",
        "d_rate": f"the first answer leads by {_number(first.get('d_rate'))} of the votes only "
        f"(at most {_number(settings_of_run.get('theta'))} is doubt)",
        "margin": f"its label is ahead by {_number(first.get('margin'))} only "
        f"(below {_number(settings_of_run.get('margin'))} is doubt)",
    }
    doubts = debate.signals.get("doubts")
    found = doubts if isinstance(doubts, list) else []
    return tuple(words.get(str(doubt)) or reason_words(str(doubt)) for doubt in found)


def _facts(debate: Debate) -> Iterable[Fact]:
    if debate.status == Debate.Status.WAITING:
        return
    signals = debate.signals
    if debate.uncertainty is None:
        why = NO_MARGIN.get(str(signals.get("margin_unknown")), "nothing told how sure it was")
        yield Fact("Uncertainty", "unknown", why)
    else:
        yield Fact("Uncertainty", _number(debate.uncertainty), "0 is sure, 1 knows nothing")
    for signal, (title, words) in _NUMBERS.items():
        if _is_number(signals.get(signal)):
            yield Fact(title, _number(signals[signal]), words(signals, signals[signal]))
    yield from _flips(signals.get("flips"))
    if signals.get("injection"):
        found = ", ".join(str(code).replace("_", " ") for code in signals["injection"])
        yield Fact("Signs of orders in the text", str(len(signals["injection"])), found)


def _flips(flips: Any) -> Iterable[Fact]:
    for role, names in flips.items() if isinstance(flips, Mapping) else ():
        words = "the judge agrees with all of it"
        if names:
            words = f"the judge decides otherwise on {', '.join(map(str, names))}"
        yield Fact(f"{str(role).capitalize()} against judge", str(len(names)), words)


def _lead(signals: Mapping[str, Any], rate: float) -> str:
    votes = signals.get("votes")
    asked = sum(vote[1] for vote in votes) if isinstance(votes, list) else 0
    if not asked:
        return "the share of votes by which the first answer leads"
    several = any(isinstance(vote[0], list) for vote in votes or ())
    who = "the most contested label is decided" if several else "the first answer leads"
    return f"{who} by {round(rate * asked)} of {asked} votes"


#: Signals that are numbers: title, and what a number means.
_NUMBERS: Mapping[str, tuple[str, Callable[[Mapping[str, Any], float], str]]] = {
    "d_rate": ("Lead (D_rate)", _lead),
    "first_d_rate": (
        "Lead at first",
        lambda signals, rate: f"{_lead(signals, rate)} before they discuss",
    ),
    "entropy": (
        "Entropy of the votes",
        lambda _, entropy: "0 is all alike, 1 as spread as can be" if entropy else "all alike",
    ),
    "margin": (
        "Probability margin",
        lambda _, margin: f"the label is {margin:.0%} likelier than the next",
    ),
    "rounds_needed": (
        "Rounds of discussion",
        lambda _, rounds: "held until it ended" if rounds else "they agreed before any",
    ),
    "judge_changes": (
        "Changes from judge to judge",
        lambda _, changes: (
            "so often a judge differs from the one before" if changes else "each judge the same"
        ),
    ),
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> str:
    return f"{round(value, 2):g}" if _is_number(value) else "—"
