"""A promise's life: it is switched on when its sample proves it, and it ends.

Each step is one transaction that records in the row whether the items must follow (``applied``).
:func:`settle_items` updates the items; it can be repeated and gives the same result after a kill.

A person answers an audited item without seeing the debate's answer. The answers since the promise
was switched on form a stream, in their order; the bound on its error rate holds however often it
is checked (``audit_bound``), so checking every few seconds costs no confidence. The truth of an
audited item is defined as in a sample (``decisions``): another definition would count false errors.

Each promise that is live or not yet carried out has a job, which watches it and carries out
whatever its row says is still to be done. Nothing depends on the request that began it, or on a
process that was killed meanwhile.
"""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import User
from apps.agreement.automation import promise
from apps.agreement.automation.decisions import audit_decisions
from apps.agreement.automation.pool import read_pool, without_certainty
from apps.agreement.automation.sample import (
    Drawn,
    freeze,
    judge,
    other_runs,
    queue_sample,
    same_rule,
    sample_of,
    why_stale,
)
from apps.agreement.models import Guarantee
from apps.common.audit import Action, record
from apps.common.jobs import JobRun, Postponed, ensure_jobs, job, start_job
from apps.common.queues import HEAVY
from apps.debates import services as debates
from apps.debates.models import RoutingRule
from apps.debates.selectors import rule_of, stored_rule
from apps.debates.selectors.rules import latest_debates, routing_now
from apps.labels.models import ItemState
from apps.labels.services import replan, require_labels_here
from apps.projects.models import Project
from labelhub.core.agreement.risk_control import Audit, Step, audit_bound
from labelhub.core.debate.routing import Rule, read_rule
from labelhub.core.errors import Conflict
from labelhub.core.schema import value_key
from labelhub.core.schema.migration import SchemaPlan

State, Ending = Guarantee.State, Guarantee.Ending
LIVE = (State.DRAWN, State.ON)
#: The job that watches a promise.
KIND = "agreement.look_after"
#: Between two looks at a promise.
PAUSE = timedelta(seconds=15)
#: With more items than this the request does not wait for them.
AT_ONCE = 2000
UNDONE = Q(state__in=LIVE) | Q(applied=False)


def live_guarantee(project: Project) -> Guarantee | None:
    """The promise that is being prepared or is in force; at most one."""
    found = Guarantee.objects.filter(project=project, state__in=LIVE)
    return found.select_related("drawn_by", "switched_on_by").first()


def switch_on(guarantee: Guarantee, *, actor: User) -> Guarantee:
    """Let the machine accept what the sample allows. The rule, the review plan and the row change
    in one transaction; the items follow (:func:`settle_items`).

    Raises:
        Conflict: the sample is not complete, does not prove the promise, or is about other
            debates or another rule than there are now.
    """
    pool = read_pool(guarantee.project)
    drawn, bound, step = _passed_sample(guarantee)
    accepted = pool.accepted(bound)
    share = promise.audit_share(guarantee.target, guarantee.confidence, accepted, pool.rule.audit)
    rule = Rule(pool.rule.flags, {**pool.rule.bounds, promise.SIGNAL: bound}, share)
    with transaction.atomic():
        project = Project.objects.select_for_update().get(pk=guarantee.project_id)
        before = stored_rule(project)
        if not same_rule(without_certainty(rule_of(project)), pool.rule):
            raise Conflict("The routing rule has been changed meanwhile. Reload the page.")
        changed = Guarantee.objects.filter(pk=guarantee.pk, state=State.DRAWN).update(
            state=State.ON,
            applied=False,
            bound=bound,
            calibrated=len(drawn.known),
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
            raise Conflict("This sample has been used or discarded meanwhile.")
        start_job(KIND, guarantee.pk)
        debates.change_routing_rule(project=project, actor=actor, rule=rule)
        _set_scope(project, Project.ReviewScope.DOUBTFUL)
        record(Action.AUTOMATION_CHANGED, project, changes={"state": (State.DRAWN, State.ON)})
    guarantee.refresh_from_db()
    return guarantee


def switch_off(guarantee: Guarantee, *, actor: User) -> bool:
    """End the promise by hand; False if it had ended already.

    Rule and review plan are restored, unless somebody has changed them meanwhile: that change has
    ended the promise. A sample that is still being labelled is discarded.
    """
    drawn = guarantee.state == State.DRAWN
    return end_guarantee(guarantee, Ending.ABANDONED if drawn else Ending.SWITCHED_OFF, actor=actor)


def end_guarantee(
    guarantee: Guarantee,
    ending: Guarantee.Ending,
    *,
    actor: User | None = None,
    counts: tuple[int, int] = (0, 0),
) -> bool:
    """End the promise once, even if several requests try at the same time. The items follow.

    Switching off by hand restores rule and plan. If the promise broke, or other debates than the
    promised ones appear, all items go to people: the earlier plan may have accepted more than the
    promise did. Manual changes of a manager since then stay.

    Args:
        guarantee: as it was read; it must still be in that state.
        ending: the reason.
        actor: the person who ends it; None: the server.
        counts: blind audits answered so far, and wrong ones among them.
    """
    still = Guarantee.objects.filter(pk=guarantee.pk, state=guarantee.state, state__in=LIVE)
    with transaction.atomic():
        if ending == Ending.SWITCHED_OFF:
            # A concurrent change of plan or rule waits until this transaction ends.
            Project.objects.select_for_update().get(pk=guarantee.project_id)
            list(RoutingRule.objects.select_for_update().filter(project=guarantee.project_id))
            ending = manual_change(guarantee) or ending
        by_hand = ending in (Ending.RULE_CHANGED, Ending.PLAN_CHANGED)
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
            # Switching off by hand restores rule and plan; else all items go to people.
            project = Project.objects.select_for_update().get(pk=guarantee.project_id)
            rule = Rule() if guarantee.rule_before is None else read_rule(guarantee.rule_before)
            debates.change_routing_rule(project=project, actor=actor, rule=rule)
            by_plan = ending == Ending.SWITCHED_OFF
            _set_scope(project, guarantee.scope_before if by_plan else Project.ReviewScope.ALL)
        if ended:
            start_job(KIND, guarantee.pk)
            record(
                Action.AUTOMATION_CHANGED,
                guarantee.project,
                actor=actor,
                changes={"state": (guarantee.state, State.OFF), "ending": (None, ending)},
            )
    guarantee.refresh_from_db()
    return bool(ended)


def manual_change(guarantee: Guarantee) -> Guarantee.Ending | None:
    """The ending that a manual change of plan or rule has caused; None without such a change."""
    rule, scope = routing_now(guarantee.project_id)
    if scope != Project.ReviewScope.DOUBTFUL:
        return Ending.PLAN_CHANGED
    promised = read_rule(guarantee.rule)
    if guarantee.bound is not None and guarantee.audit is not None:
        bounds = {**promised.bounds, promise.SIGNAL: guarantee.bound}
        promised = Rule(promised.flags, bounds, guarantee.audit)
    if not same_rule(rule, promised) or rule.audit < promised.audit:
        return Ending.RULE_CHANGED
    return None


def settle_items(guarantee: Guarantee) -> None:
    """Update the items by the row; safe to repeat.

    Takes a few seconds for 20,000 items and may run several times at once. The row is marked as
    applied only if its state has not changed meanwhile.
    """
    guarantee.refresh_from_db()
    if guarantee.applied:
        return
    project = guarantee.project
    if guarantee.state == State.DRAWN:
        queue_sample(guarantee)
    else:
        if guarantee.labels_per_item > 1:
            require_labels_here(project, guarantee.sample, 1)
        replan(project)
        debates.reroute(project)
    same = Guarantee.objects.filter(pk=guarantee.pk, state=guarantee.state)
    same.update(applied=True)
    guarantee.refresh_from_db()


def _passed_sample(guarantee: Guarantee) -> tuple[Drawn, float, Step]:
    """The sample, and the bound to switch on."""
    if guarantee.state != State.DRAWN:
        raise Conflict("This promise is already in force or has ended.")
    if strange := why_stale(guarantee):
        raise Conflict(strange)
    drawn = freeze(guarantee)
    verdict = judge(guarantee, drawn)
    if verdict is None:
        waiting = len(drawn.pending)
        raise Conflict(
            "People have yet to decide %(waiting)s of the %(sample)s items drawn.",
            waiting=waiting,
            sample=len(guarantee.sample),
            data={"drawn": len(guarantee.sample), "pending": waiting},
        )
    step = verdict.chosen
    if step is None:
        raise Conflict(
            "The sample does not prove the promise: no bound of certainty keeps it.",
            data={"reason": verdict.reason},
        )
    place = next(place for place, tried in enumerate(verdict.path) if tried is step)
    return drawn, guarantee.bounds[place], step


def _set_scope(project: Project, scope: str) -> None:
    # settle_items moves the items: one transaction over all of them would block everybody else.
    Project.objects.filter(pk=project.pk).update(review_scope=scope)


def watch_guarantee(guarantee: Guarantee) -> None:
    """Keep the sample in the queue while it is labelled, and check the promise.

    Safe at any time, also concurrently.
    """
    if guarantee.state == State.DRAWN:
        queue_sample(guarantee)
    check_guarantee(guarantee)


def check_guarantee(guarantee: Guarantee) -> tuple[Drawn | None, Audit | None]:
    """Judge a complete sample; end a promise in force that is broken or no longer about the current
    debates. Returns the state of the sample and the evidence of the audits.

    It changes no item: ``settle_items`` does.
    """
    if guarantee.state == State.DRAWN:
        return freeze(guarantee), None
    if guarantee.state != State.ON:
        return None, None
    audit = audit_of(guarantee)
    if audit.broken_at is not None:
        ending: Guarantee.Ending | None = Ending.BROKEN
    elif other_runs(guarantee):
        ending = Ending.OTHER_DEBATES
    else:
        ending = manual_change(guarantee)
    if ending:
        end_guarantee(guarantee, ending, counts=(audit.n, audit.errors))
    return sample_of(guarantee), audit


def audit_of(guarantee: Guarantee) -> Audit:
    """The evidence of the blind audits so far, in the order of the answers."""
    decided = audit_decisions(guarantee)
    debates = {
        debate.item_id: value_key(debate.value)
        for debate in latest_debates(guarantee.project, list(decided))
        if debate.labelled and debate.value is not None
    }
    wrong = [debates[item] != truth for item, truth in decided.items() if item in debates]
    return audit_bound(wrong, guarantee.target, guarantee.confidence)


def end_promise(project: Project, plan: SchemaPlan, **_signal: Any) -> None:
    """End the live promise unless the change only renames labels."""
    live = None if plan.one_to_one else live_guarantee(project)
    if live is not None:
        end_guarantee(live, Ending.LABELS_CHANGED)


@job(KIND, lease=timedelta(minutes=2), queue=HEAVY)
def look_after_job(run: JobRun) -> None:
    """Watch one promise and update its items, until there is nothing to do."""
    wanted = Guarantee.objects.filter(UNDONE, pk=run.subject).select_related("project")
    if found := wanted.first():
        watch_guarantee(found)
        settle_items(found)
        raise Postponed("It is looked at again.", PAUSE)


def settle_if_small(guarantee: Guarantee) -> None:
    """Update the items now if they are few; else a job does it."""
    if ItemState.objects.filter(project=guarantee.project_id).count() <= AT_ONCE:
        settle_items(guarantee)


def check_live_promise(project: Project) -> tuple[Guarantee | None, Drawn | None, Audit | None]:
    """The project's live promise, its sample and its audits, after a check that it still holds:
    no page may show a broken promise as kept. The items follow in the background."""
    found = live_guarantee(project)
    if found is None:
        return None, None, None
    found.project = project
    drawn, audit = check_guarantee(found)
    return (found, drawn, audit) if found.state in LIVE else (None, None, None)


def keep_guarantees() -> None:
    """Make sure that each promise that is live or not yet carried out has its job."""
    wanted = Guarantee.objects.filter(UNDONE)
    ensure_jobs(KIND, list(wanted.order_by("pk").values_list("pk", flat=True)))
