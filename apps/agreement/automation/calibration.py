"""Which items a promise is about, which of them may be drawn as its sample, and what is known.

The promise is about the items whose latest debate the rule accepts but for its certainty: what has
no label, failed, raised a flag of the rule or lies beyond another bound goes to people in any case.
Drawn from them, by lot, are those of which nothing has been learnt that could flatter the debate:

- no person has labelled them beside the suggestion: who sees an answer follows it more often than
  not, so such a label says little about the error (``proposed_from``, and what was done with it);
- no trial run or experiment has tried a set-up on them: the set-up may have been chosen because it
  was right about just these;
- no run of these debates has shown them to a model as a precedent;
- nothing that came with them says that a machine decided them: people could not decide them anew.

What people decided before without any of this (gold that came with the items, say) counts: the lot
decides which items are looked at, not who labelled them when. Items that are not drawn never count,
however well they are labelled: the queue chose them, and it prefers doubt.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet
from django.utils import timezone

from apps.agreement.automation.decisions import led_items
from apps.agreement.automation.promise import SIGNAL
from apps.debates.models import Debate, Run
from apps.debates.selectors.rules import Ended, latest_debates, rule_of
from apps.labels.models import Gold, ItemState, Kind
from apps.labels.selectors import verified_as_of
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import routing
from labelhub.core.debate.routing import Rule
from labelhub.core.schema import value_key


@dataclass(frozen=True, slots=True)
class Candidate:
    """A debated item that would be accepted if its debate is certain enough."""

    item_id: int
    uncertainty: float
    value: str
    spec: str


@dataclass(frozen=True)
class Pool:
    """The project's debated items as a promise sees them.

    Attributes:
        comparable: whether an answer is right or wrong at all; free texts are neither.
        rule: what goes to people, without a bound of certainty.
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
        """Items that may be drawn, by id."""
        return [each for each in self.candidates if each not in self.led and each not in self.tuned]

    @property
    def uncertainties(self) -> list[float]:
        """Of all candidates."""
        return [each.uncertainty for each in self.candidates.values()]

    @cached_property
    def specs(self) -> list[str]:
        """The set-ups whose debates these are."""
        return sorted({each.spec for each in self.candidates.values()})

    def accepted(self, bound: float) -> int:
        """How many candidates lie below ``bound``."""
        return sum(each.uncertainty < bound for each in self.candidates.values())


def without_certainty(rule: Rule) -> Rule:
    """The rule as if it had no bound of certainty: the promise sets that one."""
    bounds = {name: bound for name, bound in rule.bounds.items() if name != SIGNAL}
    return Rule(rule.flags, bounds, rule.audit)


def read_pool(project: Project) -> Pool:
    """The pool, in a handful of queries however many items there are."""
    rule = without_certainty(rule_of(project))
    ended = list(latest_debates(project))
    candidates = _candidates(project, rule, ended)
    return Pool(
        comparable=not current_schema(project).task.written,
        rule=rule,
        debated=len(ended),
        candidates=candidates,
        led=led_items(project),
        tuned=_tuned(project) | frozenset(by_machines(project).values_list("item_id", flat=True)),
    )


def candidates_among(
    project: Project, rule: Rule, item_ids: Collection[int]
) -> dict[int, Candidate]:
    """Those of the items that ``rule`` accepts but for certainty."""
    return _candidates(project, rule, latest_debates(project, item_ids), item_ids)


def _candidates(
    project: Project,
    rule: Rule,
    ended: Iterable[Ended],
    item_ids: Collection[int] | None = None,
) -> dict[int, Candidate]:
    debates = Debate.objects.filter(run__project=project, run__trial=False).order_by()
    if item_ids is not None:
        debates = debates.filter(item__in=item_ids)
    specs = dict(debates.values_list("pk", "run__spec_hash"))
    return {
        each.item_id: Candidate(
            each.item_id, _uncertainty(each), value_key(each.value), specs[each.pk]
        )
        for each in ended
        if accepted_but_for_certainty(rule, each)
    }


def _uncertainty(ended: Ended) -> float:
    """Of a debate that tells none, the uncertainty at which nothing is accepted."""
    told = ended.signals[SIGNAL]
    return 1.0 if told is None else float(told)


def accepted_but_for_certainty(rule: Rule, ended: Ended) -> bool:
    """Whether the debate has a label and ``rule`` sends it to nobody."""
    if not ended.labelled or ended.value is None:
        return False
    return not routing.reasons(rule, flags=ended.flags, signals=ended.signals, labelled=True)


def _tuned(project: Project) -> frozenset[int]:
    """Items that a set-up was tried on, and those that debates had before them as examples."""
    debates = Debate.objects.filter(run__project=project, run__trial=True).order_by()
    tried = frozenset(debates.values_list("item_id", flat=True))
    examples = examples_shown(project)
    if examples is None:
        return tried
    return tried | frozenset(examples.values_list("item_id", flat=True))


def by_machines(project: Project) -> QuerySet[ItemState]:
    """Items that an import says a machine decided."""
    machines = (Kind.LLM, Kind.MODEL)
    return ItemState.objects.filter(project=project, gold__decided_by__kind__in=machines)


def known_to_people(project: Project) -> QuerySet[Gold]:
    """What people have decided of the project's items."""
    return verified_as_of(project.pk, timezone.now()).order_by()


def examples_shown(project: Project) -> QuerySet[Gold] | None:
    """What runs of the project had before them as precedents; None where no run takes any."""
    runs = Run.objects.filter(project=project, trial=False).order_by("created_at")
    rows = runs.values_list("created_at", "protocol_settings")
    moments = [created for created, chosen in rows if chosen.get("precedents")]
    return verified_as_of(project.pk, moments[-1]).order_by() if moments else None
