"""The routing of debates to people: change the rule, and apply it to earlier debates."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.common.audit import Action, record
from apps.debates.models import Debate, RoutingRule
from apps.debates.selectors.rules import EndedDebate, latest_debates, routing_now
from apps.debates.services.run_spec import salt_of
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import ItemState, Label
from apps.labels.services import reroute_items
from apps.projects.models import Project
from labelhub.core.debate import routing
from labelhub.core.debate.routing import Rule

#: Items of one transaction.
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class RoutingPolicy:
    """The rule and audit of a project. There is no audit if all items go to people."""

    rule: Rule
    salt: str
    audits: bool

    def reasons(
        self, *, flags: Collection[str], signals: Mapping[str, Any], labelled: bool, key: str
    ) -> tuple[str, ...]:
        """The reasons to ask people about the item ``key``; empty if it is accepted."""
        found = routing.reasons(self.rule, flags=flags, signals=signals, labelled=labelled)
        if found or not self.audits:
            return found
        return (routing.AUDIT,) if routing.is_audited(self.rule, key, self.salt) else ()

    def reasons_of(self, ended: EndedDebate) -> tuple[str, ...]:
        """The same for an earlier debate; failed debates keep their reasons."""
        if ended.failed:
            return ended.reasons
        return self.reasons(
            flags=ended.flags, signals=ended.signals, labelled=ended.labelled, key=ended.key
        )


def routing_policy(project: Project) -> RoutingPolicy:
    """The present policy of the project."""
    rule, scope = routing_now(project.pk)
    return RoutingPolicy(rule, salt_of(project), audits=scope == Project.ReviewScope.DOUBTFUL)


def change_routing_rule(*, project: Project, actor: User | None, rule: Rule) -> RoutingRule:
    """Store ``rule`` for debates that end from now on, also in active runs.

    ``actor`` None: the server.
    """
    changed = {
        "definition": rule.to_json(),
        "changed_by": actor,
        "changed_at": timezone.now(),
    }
    with transaction.atomic():
        stored, _ = RoutingRule.objects.update_or_create(project=project, defaults=changed)
        record(Action.ROUTING_CHANGED, project, actor=actor)
    return stored


def reroute(project: Project) -> int:
    """Route each item's latest debate again, by the present rule and review plan.

    Each thousand items have a transaction of their own, which locks the items like every writer of
    the ledger. It may be repeated after an interruption. Returns the number of items whose reasons
    changed.
    """
    moved, after = 0, 0
    states = ItemState.objects.filter(project=project).exclude(signals={}).order_by("item_id")
    while ids := list(states.filter(item_id__gt=after).values_list("item_id", flat=True)[:CHUNK]):
        moved += reroute_items(project, ids, lambda locked: _route_again(project, locked))
        after = ids[-1]
    return moved


def _route_again(project: Project, states: Mapping[int, ItemState]) -> dict[int, Sequence[str]]:
    """Route these items again by their latest debates."""
    policy = routing_policy(project)
    answered = _answered_audits(states)
    wanted: dict[int, Sequence[str]] = {}
    changed: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for ended in latest_debates(project, list(states)):
        reasons = policy.reasons_of(ended)
        if not reasons and ended.item_id in answered:
            reasons = (routing.AUDIT,)
        wanted[ended.item_id] = reasons
        if reasons != ended.reasons:
            changed[reasons].append(ended.pk)
    for reasons, ids in changed.items():
        Debate.objects.filter(pk__in=ids).update(reasons=list(reasons))
    return wanted


def _answered_audits(states: Mapping[int, ItemState]) -> frozenset[int]:
    """Items whose audit a person has answered. They stay audited and count for the error rate, also
    if fewer items are audited or all items go to people later."""
    spoken = [
        item_id
        for item_id, state in states.items()
        if state.reasons == ONLY_AUDITED and state.labels_by_people > 0
    ]
    if not spoken:
        return frozenset()
    here = Label.objects.current().by_people().filter(item__in=spoken)
    answers = here.exclude(action=Label.Action.IMPORTED).order_by()
    return frozenset(answers.values_list("item_id", flat=True))
