"""The effect of a routing rule: the items that it sends, and the error rate of the others.

The data are each item's latest debate, read once, and the labels of people.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from apps.debates.selectors.rules import EndedDebate, latest_debates
from apps.debates.services.routing import RoutingPolicy, routing_policy
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import VIEW_UNKNOWN, ItemState, Label
from apps.labels.selectors import verified_as_of
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.figures import Figure, share, undefined
from labelhub.core.debate import routing
from labelhub.core.debate.routing import AT_MOST, THRESHOLDS, Rule, Threshold
from labelhub.core.schema import value_key

#: The fewest answered audits for a sentence on the error rate.
ENOUGH_AUDITS = 20
STEPS = 10
NO_GOLD = gettext_noop("people have not labelled any of them")
FREE_TEXT = gettext_noop("free-text answers are not compared")


@dataclass(frozen=True, slots=True)
class JudgedDebate:
    """A debate, and whether it was wrong by the labels of people; None if that is unknown."""

    ended: EndedDebate
    wrong: bool | None


@dataclass(frozen=True, slots=True)
class BoundEffect:
    """A possible bound (None: off), the number of sent items, and the error rate of the rest."""

    bound: float | None
    sent: int
    error: Figure
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class SignalForecast:
    """A threshold, its values in the debates, and the effect of each bound."""

    threshold: Threshold
    bound: float | None
    values: Sequence[float]
    steps: Sequence[BoundEffect]


@dataclass(frozen=True, slots=True)
class RuleForecast:
    """The effect of a rule on ``items`` debated items. ``audited`` items are accepted but still
    reviewed; ``failed`` items are always sent."""

    items: int
    sent: int
    failed: int
    audited: int
    because: Sequence[tuple[str, int]]
    accepted_error: Figure
    sent_error: Figure
    signals: Sequence[SignalForecast]

    @property
    def share(self) -> float:
        """The share of sent items."""
        return self.sent / self.items if self.items else 0.0


@dataclass(frozen=True, slots=True)
class RoutingSample:
    """The project's latest debates with the labels of people: read once, used often."""

    policy: RoutingPolicy
    known: Sequence[JudgedDebate]
    comparable: bool
    answered: frozenset[int]
    biased: frozenset[int]

    @property
    def flags(self) -> Counter[str]:
        """The number of debates with each flag."""
        return Counter(flag for debate in self.known for flag in set(debate.ended.flags))

    @property
    def behind(self) -> int:
        """The number of items that were routed by an earlier rule or plan."""
        wanted = ((self.policy.reasons_of(debate.ended), debate.ended) for debate in self.known)
        return sum(
            reasons != ended.reasons and not (ended.item_id in self.answered and not reasons)
            for reasons, ended in wanted
        )

    @property
    def audits(self) -> Sequence[JudgedDebate]:
        """The accepted items that the audit selected."""
        return [debate for debate in self.known if list(debate.ended.reasons) == ONLY_AUDITED]

    @property
    def accepted_error(self) -> Figure:
        """The error rate of the accepted items, by the blind audits."""
        answered = [audit for audit in self.audits if audit.ended.item_id not in self.biased]
        return self.error(answered, gettext("no audited item has been labelled yet"))

    def error(self, known: Iterable[JudgedDebate], reason: str = "") -> Figure:
        """The error rate of these debates, among those with a known result."""
        if not self.comparable:
            return undefined(gettext(FREE_TEXT))
        verdicts = [debate.wrong for debate in known if debate.wrong is not None]
        return share(sum(verdicts), len(verdicts), reason=reason or gettext(NO_GOLD))


def read_routing_sample(project: Project) -> RoutingSample:
    """The project's latest debates, in a fixed number of queries."""
    decided = verified_as_of(project.pk, timezone.now()).order_by()
    rows = decided.values_list("item_id", "value")
    gold = {item: value_key(value) for item, value in rows if value is not None}
    known = [JudgedDebate(ended, _is_wrong(ended, gold)) for ended in latest_debates(project)]
    return RoutingSample(
        policy=routing_policy(project),
        known=known,
        comparable=not current_schema(project).task.written,
        answered=_answered(project),
        biased=_biased_audits(project),
    )


def forecast_rule(sample: RoutingSample, rule: Rule) -> RuleForecast:
    """The effect of ``rule`` on the debates of ``sample``."""
    routed = [(debate, _reasons(rule, debate.ended)) for debate in sample.known]
    accepted = [debate for debate, reasons in routed if not reasons]
    audits = sum(
        routing.is_audited(rule, debate.ended.key, sample.policy.salt) for debate in accepted
    )
    return RuleForecast(
        items=len(routed),
        sent=len(routed) - len(accepted),
        failed=sum(debate.ended.failed for debate, _ in routed),
        audited=audits,
        because=Counter(code for _, reasons in routed for code in reasons).most_common(),
        accepted_error=sample.error(accepted),
        sent_error=sample.error(debate for debate, reasons in routed if reasons),
        signals=[_forecast_signal(sample, threshold, rule, routed) for threshold in THRESHOLDS],
    )


def bounds_within_capacity(
    weighed: RuleForecast, capacity: int
) -> list[tuple[Threshold, BoundEffect]]:
    """For each signal the bound that sends the most items up to ``capacity`` with the rest of the
    rule unchanged; signals without such a bound are left out."""
    found = []
    for signal in weighed.signals:
        kept = [step for step in signal.steps if step.sent <= capacity]
        if kept and signal.values:
            found.append((signal.threshold, max(kept, key=lambda step: step.sent)))
    return found


def _is_wrong(ended: EndedDebate, gold: Mapping[int, str]) -> bool | None:
    if not ended.labelled or ended.item_id not in gold:
        return None
    return value_key(ended.value) != gold[ended.item_id]


def _answered(project: Project) -> frozenset[int]:
    """Audited items that a person has labelled; they stay audited."""
    states = ItemState.objects.filter(project=project, reasons=ONLY_AUDITED)
    states = states.filter(labels_by_people__gt=0)
    return frozenset(states.values_list("item_id", flat=True))


def _biased_audits(project: Project) -> frozenset[int]:
    """Audited items whose annotators saw or may have seen a suggestion, such as before the audit
    began."""
    seen = Q(shown__isnull=False) | Q(provenance__has_key=VIEW_UNKNOWN)
    labels = Label.objects.current().by_people().filter(seen)
    labels = labels.filter(item__project=project, item__state__reasons=ONLY_AUDITED)
    return frozenset(labels.order_by().values_list("item_id", flat=True))


def _reasons(rule: Rule, ended: EndedDebate) -> tuple[str, ...]:
    if ended.failed:
        return ended.reasons or ended.flags or ("failed",)
    return routing.reasons(rule, flags=ended.flags, signals=ended.signals, labelled=ended.labelled)


def _forecast_signal(
    sample: RoutingSample,
    threshold: Threshold,
    rule: Rule,
    routed: Sequence[tuple[JudgedDebate, tuple[str, ...]]],
) -> SignalForecast:
    """The effect of each bound of ``threshold`` with the rest of ``rule`` unchanged."""
    read = [
        (debate, routing.number_in(debate.ended.signals.get(threshold.signal)))
        for debate, _ in routed
    ]
    # An unknown value is beyond every bound, unless the threshold counts only known values.
    unknown = None if threshold.known_only else -inf if threshold.side == AT_MOST else inf
    free = [
        (unknown if value is None else value, debate.wrong)
        for (debate, value), (_, reasons) in zip(read, routed, strict=True)
        if debate.ended.labelled and not set(reasons) - {threshold.reason}
    ]
    count = _BoundCounts(threshold, free, len(routed) - len(free))
    bound = rule.bounds.get(threshold.signal)
    steps = [
        BoundEffect(
            candidate, count.sent(candidate), count.error(candidate, sample), candidate == bound
        )
        for candidate in _bounds(threshold, bound)
    ]
    return SignalForecast(
        threshold, bound, [value for _, value in read if value is not None], steps
    )


class _BoundCounts:
    """The number of debates beyond a bound, and of wrong ones among the others."""

    def __init__(
        self, threshold: Threshold, free: Iterable[tuple[float | None, bool | None]], fixed: int
    ) -> None:
        self._low = threshold.side == AT_MOST
        self._fixed = fixed
        pairs = list(free)
        measured = [(value, wrong) for value, wrong in pairs if value is not None]
        measured.sort(key=lambda pair: pair[0])
        self._values = [value for value, _ in measured]
        self._wrong = [0, *accumulate(wrong is True for _, wrong in measured)]
        self._known = [0, *accumulate(wrong is not None for _, wrong in measured)]
        self._all_wrong = sum(wrong is True for _, wrong in pairs)
        self._all_known = sum(wrong is not None for _, wrong in pairs)

    def sent(self, bound: float | None) -> int:
        """Items that go to people by ``bound`` and the rest of the rule."""
        first, last = self._span(bound)
        return self._fixed + last - first

    def error(self, bound: float | None, sample: "RoutingSample") -> Figure:
        """The error rate of the other debates."""
        if not sample.comparable:
            return undefined(gettext(FREE_TEXT))
        first, last = self._span(bound)
        wrong = self._all_wrong - (self._wrong[last] - self._wrong[first])
        known = self._all_known - (self._known[last] - self._known[first])
        return share(wrong, known, reason=gettext(NO_GOLD))

    def _span(self, bound: float | None) -> tuple[int, int]:
        if bound is None:
            return 0, 0
        if self._low:
            return 0, bisect_right(self._values, bound)
        return bisect_left(self._values, bound), len(self._values)


def _bounds(threshold: Threshold, chosen: float | None) -> list[float | None]:
    """Bounds to show, from the one that sends least to the one that sends most."""
    size = 1.0 if threshold.whole else (threshold.high - threshold.low) / STEPS
    count = round((threshold.high - threshold.low) / size)
    found: set[float] = {round(threshold.low + step * size, 4) for step in range(count + 1)}
    if chosen is not None:
        found.add(chosen)
    return [None, *sorted(found, reverse=threshold.side != AT_MOST)]
