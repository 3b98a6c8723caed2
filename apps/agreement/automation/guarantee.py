"""A promise's life: it is switched on when its sample bears it out, and it ends.

Each step is one transaction that says in the row what is to be done with the items (``applied``);
:func:`settle` does it, as often as anybody asks, and ends in the same place after a kill.
"""

from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.agreement.automation import promise
from apps.agreement.automation.calibration import (
    Pool,
    read_pool,
    sample_of,
    without_certainty,
)
from apps.agreement.automation.sampling import (
    changed_since,
    judge,
    queue_sample,
    same_rule,
)
from apps.agreement.models import Guarantee
from apps.debates import services as debates
from apps.debates.selectors import rule_of, stored_rule
from apps.labels.services import replan
from apps.projects.models import Project
from labelhub.core.agreement.risk_control import Step
from labelhub.core.debate.routing import Rule, read_rule
from labelhub.core.errors import Conflict

State, Ending = Guarantee.State, Guarantee.Ending
LIVE = (State.DRAWN, State.ON)


def live_guarantee(project: Project) -> Guarantee | None:
    """The promise that is being prepared or is in force; at most one."""
    found = Guarantee.objects.filter(project=project, state__in=LIVE)
    return found.select_related("drawn_by", "switched_on_by").first()


def switch_on(guarantee: Guarantee, *, actor: User) -> Guarantee:
    """Let the machine accept what the sample says it may; the rule, the review plan and the row
    change in one transaction, the items follow (:func:`settle`).

    Raises:
        Conflict: the sample is not complete, does not bear the promise out, or is about other
            debates or another rule than there are now.
    """
    pool = read_pool(guarantee.project)
    bound, step = _borne_out(guarantee, pool)
    accepted = pool.accepted(bound)
    share = promise.audit_share(guarantee.target, guarantee.confidence, accepted, pool.rule.audit)
    rule = Rule(pool.rule.flags, {**pool.rule.bounds, promise.SIGNAL: bound}, share)
    with transaction.atomic():
        project = Project.objects.select_for_update().get(pk=guarantee.project_id)
        before = stored_rule(project)
        if not same_rule(without_certainty(rule_of(project)), pool.rule):
            raise Conflict("The routing rule has been changed meanwhile; look again.")
        changed = Guarantee.objects.filter(pk=guarantee.pk, state=State.DRAWN).update(
            state=State.ON,
            applied=False,
            bound=bound,
            calibrated=_counted(guarantee, pool),
            accepted=step.accepted,
            errors=step.errors,
            upper=step.bound,
            coverage=accepted / pool.debated,
            audit=share,
            switched_on_by=actor,
            switched_on_at=timezone.now(),
            rule_before=before.definition if before else None,
            scope_before=project.review_scope,
        )
        if not changed:
            raise Conflict("This sample has been used or given up meanwhile.")
        debates.change_routing_rule(project=project, actor=actor, rule=rule)
        _set_scope(project, Project.ReviewScope.DOUBTFUL)
    guarantee.refresh_from_db()
    return guarantee


def switch_off(guarantee: Guarantee, *, actor: User) -> bool:
    """End the promise by hand: rule and review plan become what they were before it; a sample that
    is still being labelled is given up. False where it had ended already."""
    drawn = guarantee.state == State.DRAWN
    return end(guarantee, Ending.ABANDONED if drawn else Ending.SWITCHED_OFF, actor=actor)


def end(
    guarantee: Guarantee,
    ending: Guarantee.Ending,
    *,
    actor: User | None = None,
    counts: tuple[int, int] = (0, 0),
) -> bool:
    """End the promise, once: of several who try at the same time one does. The items follow.

    Who switches off by hand gets rule and plan back as they were. Where the promise broke, or other
    debates than the promised ones come, everything goes to people: the plan before may have let
    more pass than the promise did. What a manager has changed by hand since stays as they want it.

    Args:
        guarantee: as it was read; it must still be in that state.
        ending: why.
        actor: who ends it; None: the server does.
        counts: blind audits answered by now, and wrong ones among them.
    """
    by_hand = ending in (Ending.RULE_CHANGED, Ending.PLAN_CHANGED)
    still = Guarantee.objects.filter(pk=guarantee.pk, state=guarantee.state, state__in=LIVE)
    with transaction.atomic():
        ended = still.update(
            state=State.OFF,
            applied=by_hand,
            ending=ending,
            ended_by=actor,
            ended_at=timezone.now(),
            audits=counts[0],
            audit_errors=counts[1],
        )
        if ended and guarantee.state == State.ON and not by_hand:
            _restore(guarantee, actor, everything=ending != Ending.SWITCHED_OFF)
    guarantee.refresh_from_db()
    return bool(ended)


def settle(guarantee: Guarantee) -> None:
    """Bring the items into line with the row, whatever of that was done before.

    Takes a few seconds for 20,000 items; several may do it at once. The row counts as carried out
    only if it still says what it said when this began.
    """
    guarantee.refresh_from_db()
    if guarantee.applied:
        return
    project = guarantee.project
    if guarantee.state == State.DRAWN:
        queue_sample(guarantee)
    else:
        replan(project)
        debates.reroute(project)
    same = Guarantee.objects.filter(pk=guarantee.pk, state=guarantee.state)
    same.update(applied=True)
    guarantee.refresh_from_db()


def _borne_out(guarantee: Guarantee, pool: Pool) -> tuple[float, Step]:
    """The bound to switch on."""
    if guarantee.state != State.DRAWN:
        raise Conflict("This promise is in force already, or over.")
    if strange := changed_since(guarantee, pool):
        raise Conflict(strange)
    drawn = sample_of(pool, guarantee.sample)
    verdict = judge(guarantee, pool, drawn)
    if verdict is None:
        waiting = len(drawn.pending)
        raise Conflict(
            f"People have yet to decide {waiting:,} of the {len(guarantee.sample):,} items drawn.",
            data={"drawn": len(guarantee.sample), "pending": waiting},
        )
    if verdict.chosen is None:
        raise Conflict(
            "The sample does not bear the promise out: no bound of certainty keeps it.",
            data={"reason": verdict.choice.reason},
        )
    return verdict.chosen


def _counted(guarantee: Guarantee, pool: Pool) -> int:
    return len(sample_of(pool, guarantee.sample).known)


def _restore(guarantee: Guarantee, actor: User | None, *, everything: bool) -> None:
    """Rule and plan as they were; or the rule, and everything to people."""
    project = Project.objects.select_for_update().get(pk=guarantee.project_id)
    rule = Rule() if guarantee.rule_before is None else read_rule(guarantee.rule_before)
    debates.change_routing_rule(project=project, actor=actor, rule=rule)
    scope = Project.ReviewScope.ALL if everything else guarantee.scope_before
    _set_scope(project, scope)


def _set_scope(project: Project, scope: str) -> None:
    # The items follow in settle: a transaction of all of them would keep everybody else waiting.
    Project.objects.filter(pk=project.pk).update(review_scope=scope)
