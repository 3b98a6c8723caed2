"""Whether a promise still holds: blind audits of what was accepted since, and what ends it.

A person answers an audited item without seeing what the debate said. The answers since the promise
was switched on form a stream, in their order; the bound on its error rate holds however often one
looks (``audit_bound``), so looking every few seconds costs no confidence. The truth of an audited
item is what it would be in a sample (``decisions``): another one would find errors that are none.
"""

from collections.abc import Sequence

from apps.agreement.automation.decisions import audit_decisions
from apps.agreement.automation.guarantee import Ending, State, changed_by_hand, end
from apps.agreement.automation.judging import Drawn, freeze, sample_of
from apps.agreement.automation.sampling import other_runs, queue_sample
from apps.agreement.models import Guarantee
from apps.debates.selectors.rules import latest_debates
from labelhub.core.agreement.risk_control import Audit, audit_bound
from labelhub.core.schema import value_key


def watch(guarantee: Guarantee) -> None:
    """Keep the sample in the queue while it is labelled, and look at what came of it.

    Safe to do at any time, by several at once.
    """
    if guarantee.state == State.DRAWN:
        queue_sample(guarantee)
    check(guarantee)


def check(guarantee: Guarantee) -> tuple[Drawn | None, Audit | None]:
    """Judge a sample that is complete; end a promise in force that is broken, or that is about
    something else than there is now. Where the sample stands, and what the audits say.

    No item is touched: that is for ``settle``.
    """
    if guarantee.state == State.DRAWN:
        return freeze(guarantee), None
    if guarantee.state != State.ON:
        return None, None
    audit = audit_of(guarantee)
    if ending := _fault(guarantee, audit):
        end(guarantee, ending, counts=(audit.n, audit.errors))
    return sample_of(guarantee), audit


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
    decided = audit_decisions(guarantee)
    debates = {
        each.item_id: value_key(each.value)
        for each in latest_debates(guarantee.project, list(decided))
        if each.labelled and each.value is not None
    }
    return [debates[item] != truth for item, truth in decided.items() if item in debates]
