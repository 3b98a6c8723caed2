"""Whether a promise still holds: blind audits of what was accepted since, and what ends it.

A person answers an audited item without seeing what the debate said. The answers since the promise
was switched on form a stream, in their order; the bound on its error rate holds however often one
looks (``audit_bound``), so looking every few seconds costs no confidence. Items of the sample,
items labelled before, and items that somebody was led on after all are no part of it.
"""

from collections.abc import Sequence

from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.agreement.automation.calibration import led_items
from apps.agreement.automation.guarantee import Ending, State, end
from apps.agreement.automation.promise import SIGNAL
from apps.agreement.automation.sampling import other_runs, queue_sample, same_rule
from apps.agreement.models import Guarantee
from apps.debates.selectors.rules import latest_debates, routing_now
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import ItemState, Label
from apps.labels.selectors import verified_as_of
from apps.projects.models import Project
from labelhub.core.agreement.risk_control import Audit, audit_bound
from labelhub.core.debate.routing import Rule, read_rule
from labelhub.core.schema import value_key


def watch(guarantee: Guarantee) -> None:
    """Keep the sample in the queue while it is labelled; end a promise in force that is broken, or
    that is about something else than there is now. Safe to do at any time, by several at once."""
    if guarantee.state == State.DRAWN:
        queue_sample(guarantee)
    elif guarantee.state == State.ON:
        audit = audit_of(guarantee)
        if ending := _fault(guarantee, audit):
            end(guarantee, ending, counts=(audit.n, audit.errors))


def audit_of(guarantee: Guarantee) -> Audit:
    """What the blind audits say of a promise in force so far."""
    return audit_bound(_outcomes(guarantee), guarantee.target, guarantee.confidence)


def rule_in_force(guarantee: Guarantee) -> Rule:
    """The routing rule as the promise set it."""
    drawn = read_rule(guarantee.rule)
    if guarantee.bound is None or guarantee.audit is None:
        return drawn
    return Rule(drawn.flags, {**drawn.bounds, SIGNAL: guarantee.bound}, guarantee.audit)


def _fault(guarantee: Guarantee, audit: Audit) -> Guarantee.Ending | None:
    """Why the promise cannot stand, the worst first."""
    if audit.broken_at is not None:
        return Ending.BROKEN
    if other_runs(guarantee):
        return Ending.OTHER_DEBATES
    rule, scope = routing_now(guarantee.project_id)
    if scope != Project.ReviewScope.DOUBTFUL:
        return Ending.PLAN_CHANGED
    promised = rule_in_force(guarantee)
    if not same_rule(rule, promised) or rule.audit < promised.audit:
        return Ending.RULE_CHANGED
    return None


def _outcomes(guarantee: Guarantee) -> Sequence[bool]:
    """Whether each audited debate was wrong, in the order of the answers."""
    decided = _answers(guarantee)
    debates = {
        each.item_id: value_key(each.value)
        for each in latest_debates(guarantee.project, list(decided))
        if each.labelled and each.value is not None
    }
    return [debates[item] != truth for item, truth in decided.items() if item in debates]


def _answers(guarantee: Guarantee) -> dict[int, str]:
    """What people said, blind, of accepted items since the promise was switched on, in order."""
    since = guarantee.switched_on_at or timezone.now()
    audited = ItemState.objects.filter(
        item=OuterRef("item"), reasons=ONLY_AUDITED, labels_by_people__gt=0
    )
    before = Label.objects.by_people().filter(item=OuterRef("item"), created_at__lt=since)
    answers = verified_as_of(guarantee.project_id, timezone.now()).filter(
        Exists(audited), ~Exists(before), created_at__gte=since
    )
    rows = answers.order_by("pk").values_list("item_id", "value")
    known = {item: value_key(value) for item, value in rows if value is not None}
    spoilt = led_items(guarantee.project, list(known)) | set(guarantee.sample)
    return {item: value for item, value in known.items() if item not in spoilt}
