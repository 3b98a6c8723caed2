"""How many items a promise would be about: counted by the database in groups that the rule cannot
tell apart, so that a page which is asked for at each keystroke need not read every debate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, Count, Exists, Func, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.agreement.automation.calibration import (
    by_machines,
    examples_shown,
    known_to_people,
    without_certainty,
)
from apps.agreement.automation.decisions import LED, words_of_authors
from apps.debates.models import Debate
from apps.debates.selectors.rules import ENDED, rule_of
from apps.labels.models import Label
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import routing
from labelhub.core.debate.routing import AT_MOST, THRESHOLDS, Rule, Threshold


@dataclass(frozen=True, slots=True)
class Counts:
    """The sizes of a :class:`~apps.agreement.automation.calibration.Pool`.

    ``within_rule``: candidates; ``available``: those of them that may be drawn; ``decided``: those
    of these that people have decided already, or of which their authors have spoken.
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
        """Of the debate's ``signals``; names of signals are the product's own, not anybody's."""
        super().__init__("signals")
        side = "<=" if threshold.side == AT_MOST else ">="
        # As text: a parameter in GROUP BY is another one to PostgreSQL than that in SELECT.
        self.extra |= {"signal": threshold.signal, "beyond": f"{side} {float(bound)!r}"}

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """JSON functions of SQLite."""
        context["template"] = (
            "CASE WHEN JSON_TYPE(%(expressions)s, '$.%(signal)s') IN ('integer', 'real') "
            "THEN JSON_EXTRACT(%(expressions)s, '$.%(signal)s') %(beyond)s ELSE 0 END"
        )
        return self.as_sql(compiler, connection, **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """JSON operators of PostgreSQL."""
        context["template"] = (
            "CASE WHEN jsonb_typeof(%(expressions)s -> '%(signal)s') = 'number' "
            "THEN (%(expressions)s ->> '%(signal)s')::double precision %(beyond)s ELSE FALSE END"
        )
        return self.as_sql(compiler, connection, **context)


def count_pool(project: Project) -> Counts:
    """The sizes of the pool that ``read_pool`` would read."""
    rule = without_certainty(rule_of(project))
    groups = _grouped(project, latest(project), rule)
    within = [each for each in groups if _accepted(rule, each)]
    return Counts(
        comparable=not current_schema(project).task.written,
        debated=sum(each["items"] for each in groups),
        within_rule=sum(each["items"] for each in within),
        available=sum(each["free"] for each in within),
        decided=sum(each["decided"] for each in within),
    )


def labelled_by_others(project: Project, rule: Rule, specs: Collection[str]) -> bool:
    """Whether a debate that ``rule`` accepts but for certainty is by none of these set-ups."""
    others = latest(project).exclude(run__spec_hash__in=specs)
    return any(_accepted(rule, each) for each in _kinds(others, rule).distinct())


def latest(project: Project) -> QuerySet[Debate]:
    """The debate that ended last of each item, as ``latest_debates`` finds it."""
    ended = Debate.objects.filter(
        run__project=project, run__trial=False, status__in=ENDED, finished_at__isnull=False
    )
    later = Q(finished_at__gt=OuterRef("finished_at"))
    together = Q(finished_at=OuterRef("finished_at"), pk__gt=OuterRef("pk"))
    return ended.filter(~Exists(ended.filter(later | together, item=OuterRef("item")))).order_by()


def _grouped(
    project: Project, debates: QuerySet[Debate], rule: Rule
) -> Sequence[Mapping[str, Any]]:
    """How many debates there are of each kind that the rule can tell from others; of those how many
    may be drawn, and how many of these people have decided."""
    tried = Debate.objects.filter(run__project=project, run__trial=True).values("item")
    led = Label.objects.by_people().filter(LED, item__project=project).values("item")
    free = ~Q(item__in=tried) & ~Q(item__in=led) & ~Q(item__in=by_machines(project).values("item"))
    examples = examples_shown(project)
    if examples is not None:
        free &= ~Q(item__in=examples.values("item"))
    words = words_of_authors(project, timezone.now()).order_by()
    decided = Q(item__in=known_to_people(project).values("item")) | Q(item__in=words.values("item"))
    return list(
        _kinds(debates, rule).annotate(
            items=Count("pk"),
            free=Count("pk", filter=free),
            decided=Count("pk", filter=free & decided),
        )
    )


def _kinds(debates: QuerySet[Debate], rule: Rule) -> Any:
    """What the rule goes by. Not the signals themselves: hardly two debates have the same."""
    beyond = {
        f"beyond_{each.signal}": Beyond(each, rule.bounds[each.signal])
        for each in THRESHOLDS
        if each.signal in rule.bounds
    }
    kinds = debates.annotate(empty=Q(value__isnull=True), **beyond)
    return kinds.values("status", "flags", "empty", *beyond)


def _accepted(rule: Rule, kind: Mapping[str, Any]) -> bool:
    if kind["status"] != Debate.Status.DONE or kind["empty"]:
        return False
    flagged = routing.reasons(Rule(rule.flags, {}), flags=kind["flags"], signals={}, labelled=True)
    return not flagged and not any(kind[name] for name in kind if name.startswith("beyond_"))
