"""The items that a promise is about, and those of them that may be drawn as its sample.

The promise is about the items whose latest debate the rule accepts but for its certainty: a debate
that failed, has no label, raised a flag of the rule or lies beyond another bound sends its item to
people in any case. The sample is drawn at random from items without a bias in favour of the debate:

- no person has labelled them beside the suggestion: people follow an answer that they see, so such
  a label says little about the error (``proposed_from`` and ``action``);
- no trial run or experiment has tried a set-up on them: the set-up may have been chosen because it
  was right about just these;
- no run of these debates has shown them to a model as a precedent;
- no import says that a machine decided them: people could not decide them again.

Earlier decisions by people, such as imported gold, count: chance decides which items are looked at,
not who labelled them when. Items that are not drawn never count, however well they are labelled:
the queue chose them, and it prefers uncertain ones.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from django.db.models import BooleanField, Count, Exists, Func, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.agreement.automation.decisions import (
    LED,
    author_labels_before,
    first_decisions,
    led_items,
)
from apps.agreement.automation.promise import SIGNAL
from apps.agreement.models import Guarantee
from apps.debates.models import Debate, Run
from apps.debates.selectors.rules import ENDED, EndedDebate, latest_debates, rule_of
from apps.labels.models import MACHINES, Gold, ItemState, Label
from apps.labels.selectors import verified_as_of
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.risk_control import ppi_mean
from labelhub.core.debate import routing
from labelhub.core.debate.routing import AT_MOST, THRESHOLDS, Rule, Threshold
from labelhub.core.schema import Schema, value_key, value_words


@dataclass(frozen=True, slots=True)
class Candidate:
    """A debated item that would be accepted if its debate is certain enough."""

    uncertainty: float
    value: str
    spec: str


@dataclass(frozen=True)
class Pool:
    """The project's debated items as a promise sees them.

    Attributes:
        comparable: whether an answer is right or wrong at all; free texts are neither.
        rule: the routing rule without a bound of certainty.
        debated: how many items have a debate that ended.
        candidates: those that the rule accepts but for certainty, by item.
        led: items labelled beside the suggestion; tuned: others that must not be drawn.
    """

    comparable: bool
    rule: Rule
    debated: int
    candidates: Mapping[int, Candidate]
    led: frozenset[int]
    tuned: frozenset[int]

    @cached_property
    def drawable(self) -> list[int]:
        return [
            item_id
            for item_id in self.candidates
            if item_id not in self.led and item_id not in self.tuned
        ]

    @property
    def uncertainties(self) -> list[float]:
        return [candidate.uncertainty for candidate in self.candidates.values()]

    @cached_property
    def specs(self) -> list[str]:
        """The set-ups of the candidates' debates."""
        return sorted({candidate.spec for candidate in self.candidates.values()})

    def accepted(self, bound: float) -> int:
        """How many candidates lie below ``bound``."""
        return sum(candidate.uncertainty < bound for candidate in self.candidates.values())


def without_certainty(rule: Rule) -> Rule:
    """The rule as if it had no bound of certainty: the promise sets that one."""
    bounds = {name: bound for name, bound in rule.bounds.items() if name != SIGNAL}
    return Rule(rule.flags, bounds, rule.audit)


def read_pool(project: Project) -> Pool:
    """The pool; the number of queries does not grow with the items."""
    rule = without_certainty(rule_of(project))
    ended = list(latest_debates(project))
    candidates = _candidates(project, rule, ended)
    # Items that a set-up was tried on, that machines decided, or that debates saw as examples.
    tried = Debate.objects.filter(run__project=project, run__trial=True).order_by()
    tuned = set(tried.values_list("item_id", flat=True))
    tuned.update(decided_by_machines(project).values_list("item_id", flat=True))
    examples = examples_shown(project)
    if examples is not None:
        tuned.update(examples.values_list("item_id", flat=True))
    return Pool(
        comparable=not current_schema(project).task.written,
        rule=rule,
        debated=len(ended),
        candidates=candidates,
        led=led_items(project),
        tuned=frozenset(tuned),
    )


def candidates_among(
    project: Project, rule: Rule, item_ids: Collection[int]
) -> dict[int, Candidate]:
    """Those of the items that ``rule`` accepts but for certainty."""
    return _candidates(project, rule, latest_debates(project, item_ids), item_ids)


def _candidates(
    project: Project,
    rule: Rule,
    ended: Iterable[EndedDebate],
    item_ids: Collection[int] | None = None,
) -> dict[int, Candidate]:
    debates = Debate.objects.filter(run__project=project, run__trial=False).order_by()
    if item_ids is not None:
        debates = debates.filter(item__in=item_ids)
    specs = dict(debates.values_list("pk", "run__spec_hash"))
    found = {}
    for debate in ended:
        if accepted_but_for_certainty(rule, debate):
            signal = debate.signals[SIGNAL]
            # Without the signal: the uncertainty at which nothing is accepted.
            uncertainty = 1.0 if signal is None else float(signal)
            value = value_key(debate.value)
            found[debate.item_id] = Candidate(uncertainty, value, specs[debate.pk])
    return found


def accepted_but_for_certainty(rule: Rule, ended: EndedDebate) -> bool:
    """Whether the debate has a label and ``rule`` does not send it to people."""
    if not ended.labelled or ended.value is None:
        return False
    return not routing.reasons(rule, flags=ended.flags, signals=ended.signals, labelled=True)


def decided_by_machines(project: Project) -> QuerySet[ItemState]:
    """Items with imported gold by a machine."""
    return ItemState.objects.filter(project=project, gold__decided_by__kind__in=MACHINES)


def examples_shown(project: Project) -> QuerySet[Gold] | None:
    """Gold that runs of the project saw as precedents; None if no run uses any."""
    runs = Run.objects.filter(project=project, trial=False).order_by("created_at")
    rows = runs.values_list("created_at", "protocol_settings")
    moments = [created for created, chosen in rows if chosen.get("precedents")]
    return verified_as_of(project.pk, moments[-1]).order_by() if moments else None


@dataclass(frozen=True, slots=True)
class Counts:
    """The sizes of a :class:`~apps.agreement.automation.pool.Pool`.

    ``within_rule``: candidates; ``available``: those of them that may be drawn; ``decided``: those
    of these with a decision by people or an answer of their author.
    """

    comparable: bool
    debated: int
    within_rule: int
    available: int
    decided: int


class Beyond(Func):
    """Whether a signal is a number beyond its bound, as ``Threshold.passed`` says."""

    output_field = BooleanField()

    def __init__(self, threshold: Threshold, bound: float) -> None:
        """A condition on the debate's ``signals``; their names are fixed by the product."""
        super().__init__("signals")
        side = "<=" if threshold.side == AT_MOST else ">="
        # As text: a parameter in GROUP BY is another one to PostgreSQL than that in SELECT.
        self.extra |= {"signal": threshold.signal, "beyond": f"{side} {float(bound)!r}"}

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        context["template"] = (
            "CASE WHEN JSON_TYPE(%(expressions)s, '$.%(signal)s') IN ('integer', 'real') "
            "THEN JSON_EXTRACT(%(expressions)s, '$.%(signal)s') %(beyond)s ELSE 0 END"
        )
        return self.as_sql(compiler, connection, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        context["template"] = (
            "CASE WHEN jsonb_typeof(%(expressions)s -> '%(signal)s') = 'number' "
            "THEN (%(expressions)s ->> '%(signal)s')::double precision %(beyond)s ELSE FALSE END"
        )
        return self.as_sql(compiler, connection, **context)


def count_pool(project: Project) -> Counts:
    """The sizes of the pool that ``read_pool`` would read."""
    rule = without_certainty(rule_of(project))
    tried = Debate.objects.filter(run__project=project, run__trial=True).values("item")
    led = Label.objects.by_people().filter(LED, item__project=project).values("item")
    free = (
        ~Q(item__in=tried)
        & ~Q(item__in=led)
        & ~Q(item__in=decided_by_machines(project).values("item"))
    )
    examples = examples_shown(project)
    if examples is not None:
        free &= ~Q(item__in=examples.values("item"))
    words = author_labels_before(project, timezone.now()).order_by()
    by_people = verified_as_of(project.pk, timezone.now()).order_by()
    decided = Q(item__in=by_people.values("item")) | Q(item__in=words.values("item"))
    kinds = _debate_kinds(latest_ended_debates(project), rule).annotate(
        items=Count("pk"),
        free=Count("pk", filter=free),
        decided=Count("pk", filter=free & decided),
    )
    groups = list(kinds)
    within = [group for group in groups if _accepted(rule, group)]
    return Counts(
        comparable=not current_schema(project).task.written,
        debated=sum(group["items"] for group in groups),
        within_rule=sum(group["items"] for group in within),
        available=sum(group["free"] for group in within),
        decided=sum(group["decided"] for group in within),
    )


def labelled_by_others(project: Project, rule: Rule, specs: Collection[str]) -> bool:
    """Whether a debate that ``rule`` accepts but for certainty is by none of these set-ups."""
    others = latest_ended_debates(project).exclude(run__spec_hash__in=specs)
    return any(_accepted(rule, kind) for kind in _debate_kinds(others, rule).distinct())


def latest_ended_debates(project: Project) -> QuerySet[Debate]:
    """The debate that ended last of each item, as ``latest_debates`` finds it."""
    ended = Debate.objects.filter(
        run__project=project, run__trial=False, status__in=ENDED, finished_at__isnull=False
    )
    later = Q(finished_at__gt=OuterRef("finished_at"))
    together = Q(finished_at=OuterRef("finished_at"), pk__gt=OuterRef("pk"))
    return ended.filter(~Exists(ended.filter(later | together, item=OuterRef("item")))).order_by()


def count_debated_since(guarantee: Guarantee) -> int:
    """How many items were debated for the first time since the sample was drawn, so that it could
    not contain them."""
    ended = Debate.objects.filter(
        run__project=guarantee.project_id, run__trial=False, status__in=ENDED
    )
    before = ended.filter(item=OuterRef("item"), finished_at__lte=guarantee.drawn_at)
    since = ended.filter(~Exists(before), finished_at__gt=guarantee.drawn_at)
    return since.values("item").distinct().count()


def _debate_kinds(debates: QuerySet[Debate], rule: Rule) -> Any:
    """Debates by the columns that the rule depends on; raw signals hardly ever repeat."""
    beyond = {
        f"beyond_{threshold.signal}": Beyond(threshold, rule.bounds[threshold.signal])
        for threshold in THRESHOLDS
        if threshold.signal in rule.bounds
    }
    kinds = debates.annotate(empty=Q(value__isnull=True), **beyond)
    return kinds.values("status", "flags", "empty", *beyond)


def _accepted(rule: Rule, kind: Mapping[str, Any]) -> bool:
    if kind["status"] != Debate.Status.DONE or kind["empty"]:
        return False
    flagged = routing.reasons(Rule(rule.flags, {}), flags=kind["flags"], signals={}, labelled=True)
    return not flagged and not any(kind[name] for name in kind if name.startswith("beyond_"))


# The share of a label among machine labels has their errors. The random sample shows how large
# these are, so the corrected share is unbiased however bad the debates are
# (``risk_control.ppi_mean``).

#: With fewer labels the normal interval is too narrow.
LEAST = 50


def label_shares(pool: Pool, truths: Mapping[int, str], schema: Schema) -> list[dict[str, Any]]:
    """The ``name`` of each label of the schema and its share among the items the promise is about:
    ``naive`` by the debates alone, and ``corrected``, a figure. Empty where the task has no labels
    in common, or the sample is too small for an interval.

    ``truths``: first blind decisions of the sample's items.
    """
    sampled = [item_id for item_id in truths if item_id in pool.candidates]
    if not schema.task.labelled or len(sampled) < LEAST:
        return []
    rest = [pool.candidates[item_id].value for item_id in pool.drawable if item_id not in truths]
    by_debates = [pool.candidates[item_id].value for item_id in sampled]
    truth = [truths[item_id] for item_id in sampled]
    # Labels as values spell them: of a scale the points.
    labels: Sequence[str] = schema.names
    if schema.task.ordered:
        labels = [value_words(label.point) for label in schema.labels if label.point is not None]
    shares = []
    for label in labels:
        has_label = [
            [float(_has(value, label)) for value in values] for values in (truth, by_debates, rest)
        ]
        every = [*has_label[1], *has_label[2]]
        corrected = ppi_mean(*has_label)
        shares.append({"name": label, "naive": sum(every) / len(every), "corrected": corrected})
    return shares


def _has(value: str, label: str) -> bool:
    """Whether the value, as compared, is the label or a set with it."""
    found = json.loads(value)
    return label in found if isinstance(found, list) else value_words(found) == label


#: Its key in a verdict.
REACH = "reach"


def measure_reach(guarantee: Guarantee, known: Mapping[int, object]) -> dict[str, Any]:
    """The reach of a sample's bounds now, as a verdict keeps it: the sizes of the ``pool``, how
    many items each bound has ``accepted``, strict to loose, and the ``shares`` of labels.

    Args:
        guarantee: the promise with the bounds.
        known: the items of its sample that count.
    """
    pool = read_pool(guarantee.project)
    decided = first_decisions(guarantee).truths
    truths = {item: decided[item] for item in known if item in decided}
    return {
        "pool": asdict(count_pool(guarantee.project)),
        "accepted": [pool.accepted(bound) for bound in guarantee.bounds],
        "shares": label_shares(pool, truths, current_schema(guarantee.project).parsed),
    }


def reach_of(guarantee: Guarantee, known: Mapping[int, object]) -> Mapping[str, Any]:
    """The reach measured with the verdict; measured and stored now if the verdict has none."""
    verdict = dict(guarantee.verdict or {})
    if REACH not in verdict:
        verdict[REACH] = measure_reach(guarantee, known)
        Guarantee.objects.filter(pk=guarantee.pk, verdict__isnull=False).update(verdict=verdict)
        guarantee.verdict = verdict
    found: Mapping[str, Any] = verdict[REACH]
    return found
