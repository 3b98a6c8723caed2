"""The rule that sends a debate's outcome to people, by its flags and signals.

The rule is data that a project's manager edits. A share of the accepted items is audited: a person
labels them without the debate's answer, which gives the only unbiased estimate of its error.
"""

import hashlib
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from labelhub.core.errors import InvalidInput
from labelhub.core.texts import gettext_noop

#: Flags that go to people under the default rule, with their meaning.
FLAGS: dict[str, str] = {
    "unparsed": gettext_noop("an answer could not be read"),
    "truncated": gettext_noop("an answer was cut off before it decided"),
    "refused": gettext_noop("a model refused"),
    "too_long": gettext_noop("the text is too long for a model"),
    "failed": gettext_noop("a call failed"),
    "cut_off": gettext_noop("an answer reached its token limit after it had decided"),
    "lenient": gettext_noop("an answer does not have the requested form"),
    "injection": gettext_noop("the text shows signs of prompt injection"),
    "tie": gettext_noop("the votes are tied"),
    "no_majority": gettext_noop("no answer has more than half of all votes"),
    "first_round_differs": gettext_noop("the annotators disagree before the discussion"),
    "dissent": gettext_noop("the annotators disagree at the end"),
    "extractor_differs": gettext_noop("extractor and judge disagree"),
    "critic_differs": gettext_noop("critic and judge disagree"),
    "judge_adds": gettext_noop("the judge added a label"),
    "changed_mind": gettext_noop("the refined answer differs from the draft"),
    "judges_differ": gettext_noop("the judges disagree"),
    "overturned": gettext_noop("the judges overturned the result of the hearing"),
    "outside": gettext_noop("nobody argued for the verdict"),
}

AT_MOST, AT_LEAST = gettext_noop("at most"), gettext_noop("at least")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A signal that sends an item to people beyond a bound; ``usual`` is the default bound, if any.

    ``known_only``: an unknown signal is within the bound; otherwise it is beyond it.
    """

    signal: str
    reason: str
    title: str
    side: str
    usual: float | None
    low: float = 0.0
    high: float = 1.0
    known_only: bool = True

    def passed(self, value: Any, bound: float) -> bool:
        """Whether ``value`` is beyond ``bound``, or is unknown and must be known."""
        known = number_in(value)
        if known is None:
            return not self.known_only
        return known <= bound if self.side == AT_MOST else known >= bound

    @property
    def whole(self) -> bool:
        """Whether it is a count; otherwise it is a share."""
        return self.high > 1


def number_in(value: Any) -> float | None:
    """The number of a stored signal; None if it is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


THRESHOLDS = (
    Threshold(
        "d_rate", "low_d_rate", gettext_noop("Lead of the first answer (D_rate)"), AT_MOST, 0.5
    ),
    Threshold(
        "first_d_rate",
        "low_first_d_rate",
        gettext_noop("Lead before the discussion"),
        AT_MOST,
        None,
    ),
    Threshold(
        "margin", "low_margin", gettext_noop("Probability margin of the label"), AT_MOST, None
    ),
    Threshold("entropy", "high_entropy", gettext_noop("Entropy of the votes"), AT_LEAST, None),
    Threshold(
        "rounds_needed", "many_rounds", gettext_noop("Rounds of discussion"), AT_LEAST, None, high=5
    ),
    Threshold(
        "judge_changes",
        "judges_changed",
        gettext_noop("Changes from judge to judge"),
        AT_LEAST,
        1,
        high=4,
    ),
    # An item accepted by certainty must have a known certainty.
    Threshold(
        "uncertainty",
        "uncertain",
        gettext_noop("Overall uncertainty"),
        AT_LEAST,
        None,
        known_only=False,
    ),
)
AUDIT = "audit"
USUAL_AUDIT = 0.03
MOST_AUDIT = 0.5


class InvalidRule(InvalidInput):
    """A routing rule has an unknown name or a number out of bounds."""

    code = "invalid_rule"


@dataclass(frozen=True, slots=True)
class Rule:
    """The flags and bounds of signals that send an item to people, and the audited share."""

    flags: frozenset[str] = frozenset(FLAGS)
    bounds: Mapping[str, float] = field(
        default_factory=lambda: {
            threshold.signal: threshold.usual
            for threshold in THRESHOLDS
            if threshold.usual is not None
        }
    )
    audit: float = USUAL_AUDIT

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, which :func:`read_rule` reads back."""
        return {
            "flags": [flag for flag in FLAGS if flag in self.flags],
            "bounds": dict(self.bounds),
            "audit": self.audit,
        }


def read_rule(raw: Any) -> Rule:
    """The rule in a JSON object; missing keys have their default.

    Raises:
        InvalidRule: the message names the fault.
    """
    if not isinstance(raw, Mapping):
        raise InvalidRule("rule: must be an object with flags, bounds and audit.")
    usual = Rule()
    strange = next((name for name in raw if name not in usual.to_json()), None)
    if strange is not None:
        raise InvalidRule(f"rule: '{strange}' is unknown; a rule has flags, bounds and audit.")
    return Rule(
        _read_flags(raw.get("flags", list(usual.flags))),
        _read_bounds(raw.get("bounds", usual.bounds)),
        _number("audit", raw.get("audit", usual.audit), 0.0, MOST_AUDIT),
    )


def reasons(
    rule: Rule, *, flags: Collection[str], signals: Mapping[str, Any], labelled: bool
) -> tuple[str, ...]:
    """The reasons to ask people, each once; empty if the outcome is accepted.

    An outcome without a label always goes to people.
    """
    found = [flag for flag in flags if flag in rule.flags or flag not in FLAGS]
    found += [
        threshold.reason
        for threshold in THRESHOLDS
        if threshold.signal in rule.bounds
        and threshold.passed(signals.get(threshold.signal), rule.bounds[threshold.signal])
    ]
    if not labelled and not found:
        found = list(flags) or ["unparsed"]
    return tuple(dict.fromkeys(found))


def is_audited(rule: Rule, key: str, salt: str) -> bool:
    """Whether the accepted item ``key`` is audited.

    A hash decides, so that the answer never changes; ``salt`` belongs to the project.
    """
    digest = hashlib.sha256(f"audit {salt} {key}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) < rule.audit * 2**64


def _read_flags(raw: Any) -> frozenset[str]:
    if not isinstance(raw, list | tuple | set | frozenset):
        raise InvalidRule("rule: 'flags' must be a list of flags.")
    strange = next((flag for flag in raw if not isinstance(flag, str) or flag not in FLAGS), None)
    if strange is not None:
        raise InvalidRule(f"rule: there is no flag '{strange}'; the flags are: {', '.join(FLAGS)}.")
    return frozenset(raw)


def _read_bounds(raw: Any) -> dict[str, float]:
    if not isinstance(raw, Mapping):
        raise InvalidRule("rule: 'bounds' must map signals to numbers.")
    known = {threshold.signal: threshold for threshold in THRESHOLDS}
    strange = next((signal for signal in raw if signal not in known), None)
    if strange is not None:
        raise InvalidRule(
            f"rule: there is no signal '{strange}'; the signals are: {', '.join(known)}."
        )
    return {
        signal: _number(signal, bound, known[signal].low, known[signal].high)
        for signal, bound in raw.items()
        if bound is not None
    }


def _number(name: str, raw: Any, low: float, high: float) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not low <= raw <= high:
        raise InvalidRule(f"rule: '{name}' must be a number from {low:g} to {high:g}.")
    return float(raw)
