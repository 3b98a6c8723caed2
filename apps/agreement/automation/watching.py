"""Whether a promise still holds: blind audits of what was accepted since, and what ends it.

A person answers an audited item without seeing what the debate said. The answers since the promise
was switched on form a stream, in their order; the bound on its error rate holds however often one
looks (``audit_bound``), so looking every few seconds costs no confidence. Items of the sample,
items labelled before, and items that somebody was led on after all are no part of it.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import Case, Exists, OuterRef, When
from django.utils import timezone

from apps.agreement.automation.decisions import LED
from apps.agreement.automation.guarantee import Ending, State, changed_by_hand, end
from apps.agreement.automation.judging import freeze
from apps.agreement.automation.sampling import other_runs, queue_sample
from apps.agreement.models import Guarantee
from apps.debates.selectors.rules import latest_debates
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import ItemState, Kind, Label
from apps.labels.services.drafts import UNASKED
from labelhub.core.agreement.risk_control import Audit, audit_bound
from labelhub.core.schema import value_key


def watch(guarantee: Guarantee) -> None:
    """Keep the sample in the queue while it is labelled, and judge it when it is; end a promise in
    force that is broken, or that is about something else than there is now.

    Safe to do at any time, by several at once.
    """
    if guarantee.state == State.DRAWN:
        queue_sample(guarantee)
        freeze(guarantee)
    elif guarantee.state == State.ON:
        audit = audit_of(guarantee)
        if ending := _fault(guarantee, audit):
            end(guarantee, ending, counts=(audit.n, audit.errors))


def audit_of(guarantee: Guarantee) -> Audit:
    """What the blind audits say of a promise in force so far."""
    return audit_bound(_outcomes(guarantee), guarantee.target, guarantee.confidence)


def _fault(guarantee: Guarantee, audit: Audit) -> Guarantee.Ending | None:
    """Why the promise cannot stand, the worst first."""
    if audit.broken_at is not None:
        return Ending.BROKEN
    if other_runs(guarantee):
        return Ending.OTHER_DEBATES
    return changed_by_hand(guarantee)


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
    """What the first person to speak of each audited item said first since the promise was switched
    on, in order. What they or others say, take back or decide later changes none of it; an item of
    which somebody spoke beside the suggestion first is left out."""
    since = guarantee.switched_on_at or timezone.now()
    audited = ItemState.objects.filter(item=OuterRef("item"), reasons=ONLY_AUDITED)
    people = Label.objects.by_people().exclude(action=Label.Action.IMPORTED)
    # What a crowd worker says unasked decides nothing, here neither.
    people = people.exclude(annotator__kind=Kind.CROWD, provenance__has_key=UNASKED)
    before = Label.objects.by_people().filter(item=OuterRef("item"), created_at__lt=since)
    said = people.filter(
        Exists(audited),
        ~Exists(before),
        item__project=guarantee.project_id,
        created_at__gte=since,
        value__isnull=False,
    ).annotate(beside=Case(When(LED, then=True), default=False))
    first: dict[int, tuple[bool, Any]] = {}
    for item, beside, value in said.order_by("pk").values_list("item_id", "beside", "value"):
        first.setdefault(item, (beside, value))
    drawn = set(guarantee.sample)
    return {
        item: value_key(value)
        for item, (beside, value) in first.items()
        if not beside and item not in drawn
    }
