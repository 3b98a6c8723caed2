"""Which items a promise is about, which of them may be drawn as its sample, and what is known.

The promise is about the items whose latest debate the rule accepts but for its certainty: what has
no label, failed, raised a flag of the rule or lies beyond another bound goes to people in any case.
Drawn from them, by lot, are those of which nothing has been learnt that could flatter the debate:

- no person has labelled them beside the suggestion: who sees an answer follows it more often than
  not, so such a label says little about the error (``proposed_from``, and what was done with it);
- no trial run or experiment has tried a set-up on them: the set-up may have been chosen because it
  was right about just these;
- no run of these debates has shown them to a model as a precedent.

What people decided before without any of this (gold that came with the items, say) counts: the lot
decides which items are looked at, not who labelled them when. Items that are not drawn never count,
however well they are labelled: the queue chose them, and it prefers doubt.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Q
from django.utils import timezone

from apps.agreement.automation.promise import SIGNAL
from apps.debates.models import Debate, Run
from apps.debates.selectors.rules import Ended, latest_debates, rule_of
from apps.labels.models import Label
from apps.labels.selectors import verified_as_of
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.debate import routing
from labelhub.core.debate.routing import Rule
from labelhub.core.schema import Task, value_key

#: What shows that a person saw the suggestion.
LED = Q(proposed_from__isnull=False) | Q(
    action__in=(Label.Action.ACCEPTED, Label.Action.FIXED, Label.Action.REJECTED)
)


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
        led, tuned: items that must not be drawn; see the module.
        truths: what people decided, of items that nobody was led on.
    """

    comparable: bool
    rule: Rule
    debated: int
    candidates: Mapping[int, Candidate]
    led: frozenset[int]
    tuned: frozenset[int]
    truths: Mapping[int, str]

    @cached_property
    def drawable(self) -> list[int]:
        """Items that may be drawn, by id."""
        return [each for each in self.candidates if each not in self.led and each not in self.tuned]

    @cached_property
    def specs(self) -> list[str]:
        """The set-ups whose debates these are."""
        return sorted({each.spec for each in self.candidates.values()})

    def wrong(self, item_id: int) -> bool | None:
        """Whether the debate of a candidate was wrong; None where nobody blind has decided."""
        truth = self.truths.get(item_id)
        return None if truth is None else truth != self.candidates[item_id].value

    def accepted(self, bound: float) -> int:
        """How many candidates lie below ``bound``."""
        return sum(each.uncertainty < bound for each in self.candidates.values())


@dataclass(frozen=True, slots=True)
class Drawn:
    """What has become of a sample: decided blind, waiting for people, or of no use any more.

    ``led``: labelled beside the suggestion after all; ``gone``: its newest debate goes to people in
    any case. Both are dropped: the queue and the debate settled them, not the label.
    """

    known: list[int]
    pending: list[int]
    led: list[int]
    gone: list[int]


def without_certainty(rule: Rule) -> Rule:
    """The rule as if it had no bound of certainty: the promise sets that one."""
    bounds = {name: bound for name, bound in rule.bounds.items() if name != SIGNAL}
    return Rule(rule.flags, bounds, rule.audit)


def read_pool(project: Project) -> Pool:
    """The pool, in a handful of queries however many items there are."""
    rule = without_certainty(rule_of(project))
    specs = dict(
        Debate.objects.filter(run__project=project, run__trial=False)
        .order_by()
        .values_list("pk", "run__spec_hash")
    )
    ended = list(latest_debates(project))
    led = led_items(project)
    return Pool(
        comparable=current_schema(project).task is not Task.TEXT,
        rule=rule,
        debated=len(ended),
        candidates={
            each.item_id: Candidate(
                each.item_id,
                float(each.signals[SIGNAL]),
                value_key(each.value),
                specs[each.pk],
            )
            for each in ended
            if accepted_but_for_certainty(rule, each)
        },
        led=led,
        tuned=_tuned(project),
        truths={key: value for key, value in truths_of(project).items() if key not in led},
    )


def accepted_but_for_certainty(rule: Rule, ended: Ended) -> bool:
    """Whether the debate has a label and ``rule`` sends it to nobody."""
    if not ended.labelled or ended.value is None:
        return False
    return not routing.reasons(rule, flags=ended.flags, signals=ended.signals, labelled=True)


def sample_of(pool: Pool, item_ids: Iterable[int]) -> Drawn:
    """Where the items of a sample stand now."""
    found = Drawn([], [], [], [])
    for item_id in item_ids:
        if item_id not in pool.candidates:
            found.gone.append(item_id)
        elif item_id in pool.led:
            found.led.append(item_id)
        else:
            (found.known if item_id in pool.truths else found.pending).append(item_id)
    return found


def truths_of(project: Project) -> dict[int, str]:
    """What people have decided, by item; as compared, not as shown."""
    decided = verified_as_of(project.pk, timezone.now()).order_by()
    rows = decided.values_list("item_id", "value")
    return {item: value_key(value) for item, value in rows if value is not None}


def led_items(project: Project, item_ids: Collection[int] | None = None) -> frozenset[int]:
    """Items that a person has labelled beside the suggestion, also if they have said anew since.

    Args:
        project: whose.
        item_ids: among these only.
    """
    labels = Label.objects.by_people().filter(LED, item__project=project)
    if item_ids is not None:
        labels = labels.filter(item__in=item_ids)
    return frozenset(labels.order_by().values_list("item_id", flat=True))


def _tuned(project: Project) -> frozenset[int]:
    """Items that a set-up was tried on, and those that debates had before them as examples."""
    debates = Debate.objects.filter(run__project=project, run__trial=True).order_by()
    tried = frozenset(debates.values_list("item_id", flat=True))
    runs = Run.objects.filter(project=project, trial=False).order_by("created_at")
    rows = runs.values_list("created_at", "protocol_settings")
    moments = [created for created, chosen in rows if chosen.get("precedents")]
    if not moments:
        return tried
    examples = verified_as_of(project.pk, moments[-1]).order_by()
    return tried | frozenset(examples.values_list("item_id", flat=True))
