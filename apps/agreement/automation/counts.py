"""How many items a promise would be about: counted by the database in groups that the rule cannot
tell apart, so that a page which is asked for at each keystroke need not read every debate."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from apps.agreement.automation.calibration import examples_shown, without_certainty
from apps.agreement.automation.decisions import LED
from apps.debates.models import Debate
from apps.debates.selectors.rules import ENDED, rule_of
from apps.labels.models import Label
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import routing
from labelhub.core.debate.routing import Rule
from labelhub.core.schema import Task


@dataclass(frozen=True, slots=True)
class Counts:
    """The sizes of a :class:`~apps.agreement.automation.calibration.Pool`.

    ``within_rule``: candidates; ``available``: those of them that may be drawn.
    """

    comparable: bool
    debated: int
    within_rule: int
    available: int


def count_pool(project: Project) -> Counts:
    """The sizes of the pool that ``read_pool`` would read."""
    groups = list(_grouped(project, latest(project)))
    rule = without_certainty(rule_of(project))
    within = [each for each in groups if _accepted(rule, each)]
    return Counts(
        comparable=current_schema(project).task is not Task.TEXT,
        debated=sum(each["items"] for each in groups),
        within_rule=sum(each["items"] for each in within),
        available=sum(each["free"] for each in within),
    )


def labelled_by_others(project: Project, rule: Rule, specs: Collection[str]) -> bool:
    """Whether a debate that ``rule`` accepts but for certainty is by none of these set-ups."""
    others = latest(project).exclude(run__spec_hash__in=specs)
    return any(_accepted(rule, each) for each in _grouped(project, others))


def latest(project: Project) -> QuerySet[Debate]:
    """The debate that ended last of each item, as ``latest_debates`` finds it."""
    ended = Debate.objects.filter(
        run__project=project, run__trial=False, status__in=ENDED, finished_at__isnull=False
    )
    later = Q(finished_at__gt=OuterRef("finished_at"))
    together = Q(finished_at=OuterRef("finished_at"), pk__gt=OuterRef("pk"))
    return ended.filter(~Exists(ended.filter(later | together, item=OuterRef("item")))).order_by()


def _grouped(project: Project, debates: QuerySet[Debate]) -> Iterable[dict[str, Any]]:
    """How many debates there are of each kind that a rule can tell from others, and of those how
    many may be drawn."""
    tried = Debate.objects.filter(run__project=project, run__trial=True).values("item")
    led = Label.objects.by_people().filter(LED, item__project=project).values("item")
    free = ~Q(item__in=tried) & ~Q(item__in=led)
    examples = examples_shown(project)
    if examples is not None:
        free &= ~Q(item__in=examples.values("item"))
    kinds = debates.annotate(empty=Q(value__isnull=True)).values(
        "status", "flags", "signals", "empty"
    )
    return kinds.annotate(items=Count("pk"), free=Count("pk", filter=free))


def _accepted(rule: Rule, kind: Mapping[str, Any]) -> bool:
    if kind["status"] != Debate.Status.DONE or kind["empty"]:
        return False
    return not routing.reasons(rule, flags=kind["flags"], signals=kind["signals"], labelled=True)
