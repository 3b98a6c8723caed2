"""Which kind is right more often than which: the paired comparisons of a report, in plain words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agreement.standing.methods import plain
from apps.agreement.standing.truths import Report, Truth, short_name, truths_of
from apps.common.figures import number_words
from labelhub.core.schema import TASKS

LEAST_P = 0.001


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """``better`` is right at least as often as ``worse`` on the items of both.

    ``difference`` in percentage points with its interval; ``only_better``, ``only_worse``: items on
    which one alone is right. ``p`` is corrected for the number of pairs, ``p_alone`` is not;
    ``p_items``: as if items were independent, where the test heeds that they are not.
    ``own``: which of the two made decisions of the truth themselves.
    """

    better: str
    worse: str
    words: str
    settled: bool
    difference: str
    items: int
    only_better: int
    only_worse: int
    p: str
    p_alone: str
    p_items: str = ""
    own: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ComparedKinds:
    """All pairs by one truth; ``overall`` is Cochran's Q in words, ``methods`` the tests."""

    truth: Truth
    overall: str
    pairs: Sequence[ComparedPair]
    methods: Sequence[str]
    doubts: Sequence[str]


def compared_kinds(report: Report) -> list[ComparedKinds]:
    """One table for each truth by which two kinds can be compared."""
    found = []
    for truth in truths_of(report):
        told = report["comparisons"].get(truth.by)
        pairs = [pair for pair in told["pairs"] if pair["items"]] if told else []
        # Of free texts right is the same word for word: where none is, it tells nothing.
        if TASKS[report["task"]].written and not any(
            each["only_a"] + each["only_b"] for each in pairs
        ):
            continue
        if pairs:
            found.append(
                ComparedKinds(
                    truth=truth,
                    overall=_overall(told),
                    pairs=[_pair(report, truth, pair) for pair in pairs],
                    methods=_different([told["method"], *(pair["method"] for pair in pairs)]),
                    doubts=_different(plain(pair.get("doubt") or "") for pair in pairs),
                )
            )
    return found


def p_words(p: float | None) -> str:
    """``0.03``, ``0.004``, ``< 0.001``; a dash where there is no test."""
    if p is None:
        return "–"
    if p < LEAST_P:
        return f"< {LEAST_P:g}"
    # Never 0.05 for what is below it.
    return number_words(p) if p >= 0.1 else f"{p:.3f}"


def points(figure: Mapping[str, Any], *, turned: bool = False) -> str:
    """A difference of shares in percentage points: ``+13 (0 to +26)``."""
    value, low, high = figure["value"], figure.get("low"), figure.get("high")
    if value is None:
        return "–"
    if turned:
        value = -value
        low, high = (None, None) if low is None or high is None else (-high, -low)
    doubt = f" ({_signed(low)} to {_signed(high)})" if low is not None and high is not None else ""
    return f"{_signed(value)}{doubt}"


def _pair(report: Report, truth: Truth, pair: Mapping[str, Any]) -> ComparedPair:
    turned = (pair["difference"]["value"] or 0) < 0
    better, worse = (pair["b"], pair["a"]) if turned else (pair["a"], pair["b"])
    only = (pair["only_b"], pair["only_a"]) if turned else (pair["only_a"], pair["only_b"])
    names = [short_name(report, kind) for kind in (better, worse)]
    settled = bool(pair["reliable"])
    own = [kind for kind in (better, worse) if truth.found[kind]["own_decisions"]]
    return ComparedPair(
        better=better,
        worse=worse,
        words=" more often than ".join(names) if settled else " and ".join(names),
        settled=settled,
        difference=points(pair["difference"], turned=turned),
        items=pair["items"],
        only_better=only[0],
        only_worse=only[1],
        p=p_words(pair["p_holm"]),
        p_alone=p_words(pair["p"]),
        p_items=p_words(pair["p_items"]) if pair.get("p_items") is not None else "",
        own=own,
    )


def _overall(told: Mapping[str, Any]) -> str:
    """Whether any kind differs from any other."""
    kinds = len(told["kinds"])
    if told["cochran_q"] is None:
        return f"On the {told['items']:,} items that all {kinds} answered nothing tells them apart."
    words = f"Over the {told['items']:,} items that all {kinds} answered"
    return f"{words}: Q {number_words(told['cochran_q'])}, p {p_words(told['p'])}."


def _signed(share: float) -> str:
    whole = round(share * 100) + 0
    return "0" if whole == 0 else f"{whole:+d}".replace("-", "−")


def _different(words: Any) -> list[str]:
    return list(dict.fromkeys(one for one in words if one))
