"""The sample of a promise: drawn at random, labelled blind, judged once.

Target, confidence, rule and bounds are fixed when the sample is drawn, before anybody knows an
error. It is judged once, when all of it is labelled: looking after each label and stopping at a
good moment would break the confidence.
"""

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.models import User
from apps.agreement.automation import promise
from apps.agreement.automation.decisions import (
    author_labels_before,
    first_decisions,
    led_items,
    newest_golds,
)
from apps.agreement.automation.pool import (
    REACH,
    candidates_among,
    labelled_by_others,
    measure_reach,
    read_pool,
    without_certainty,
)
from apps.agreement.models import Guarantee
from apps.common.audit import Action, record
from apps.debates.models import Run
from apps.debates.selectors import rule_of
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import MACHINES, ItemState
from apps.labels.services import require_labels_here, reroute_items
from apps.projects.models import Project
from labelhub.core.agreement.risk_control import Choice, labels_needed
from labelhub.core.debate.routing import Rule, read_rule
from labelhub.core.errors import Conflict


@dataclass(frozen=True, slots=True)
class Drawn:
    """The state of a sample's items: decided blind, waiting for people, or dropped.

    ``known``: uncertainty, and whether the debate was wrong, by item; ``led``: labelled beside the
    suggestion before any blind answer; ``gone``: its newest debate goes to people in any case.
    Those two are dropped: the queue and the debate decided this, not the label.
    """

    known: Mapping[int, tuple[float, bool]]
    pending: list[int]
    led: list[int]
    gone: list[int]


def sample_of(guarantee: Guarantee) -> Drawn:
    """The state of the sample's items: from the row once it is judged, from the ledger until then.

    The rule is that of the drawing.
    """
    if guarantee.verdict is not None:
        verdict = guarantee.verdict
        items = {int(item): (found[0], found[1]) for item, found in verdict["items"].items()}
        return Drawn(items, [], list(verdict["led"]), list(verdict["gone"]))
    decided = first_decisions(guarantee)
    rule = read_rule(guarantee.rule)
    there = candidates_among(guarantee.project, rule, guarantee.sample)
    gone = [item for item in guarantee.sample if item not in there]
    known = {
        item: (there[item].uncertainty, decided.truths[item] != there[item].value)
        for item in guarantee.sample
        if item in there and item in decided.truths
    }
    left = [item for item in guarantee.sample if item in there and item not in known]
    pending = [item for item in left if item not in decided.led]
    return Drawn(known, pending, [item for item in left if item in decided.led], gone)


def freeze(guarantee: Guarantee) -> Drawn:
    """Judge the sample if all of it is decided, and store the result; of several concurrent calls
    the first one counts. Returns the state of its items."""
    drawn = sample_of(guarantee)
    if guarantee.verdict is not None or drawn.pending or guarantee.state != Guarantee.State.DRAWN:
        return drawn
    unjudged = Guarantee.objects.filter(
        pk=guarantee.pk, state=Guarantee.State.DRAWN, verdict__isnull=True
    )
    unjudged.update(
        verdict={
            "items": {str(item): list(found) for item, found in drawn.known.items()},
            "led": drawn.led,
            "gone": drawn.gone,
            REACH: measure_reach(guarantee, drawn.known),
        },
        wrong=sum(wrong for _, wrong in drawn.known.values()),
        judged_at=timezone.now(),
    )
    guarantee.refresh_from_db(fields=["verdict", "wrong", "judged_at"])
    return sample_of(guarantee)


def judge(guarantee: Guarantee, drawn: Drawn) -> Choice | None:
    """The verdict of the sample, a step for each of the promise's bounds; None while one of its
    items waits for a person."""
    if drawn.pending:
        return None
    return promise.decide(
        [uncertainty for uncertainty, _ in drawn.known.values()],
        [wrong for _, wrong in drawn.known.values()],
        guarantee.bounds,
        (guarantee.target, guarantee.confidence, guarantee.start_errors),
    )


#: Items of one transaction.
CHUNK = 1000


def draw_sample(
    project: Project,
    *,
    actor: User,
    terms: promise.Terms,
) -> Guarantee:
    """Draw the items that will judge a promise; from then on its terms are fixed.

    Raises:
        InvalidInput: a term is out of its bounds.
        Conflict: there is a promise already, or too few items may be drawn.
    """
    promise.check_terms(terms)
    target, confidence, coverage, labels_per_item = terms
    pool = read_pool(project)
    if not pool.comparable:
        raise Conflict("Free texts are neither right nor wrong as a whole: no error to bound.")
    needed = labels_needed(target, confidence)
    if len(pool.drawable) < needed:
        raise Conflict(
            "At most %(target)s wrong at a confidence of %(confidence)s needs at least "
            "%(needed)s items that may be drawn, and there are %(drawable)s. Debate more "
            "items, or allow more errors or less confidence.",
            target=f"{target:.4g}",
            confidence=confidence,
            needed=needed,
            drawable=len(pool.drawable),
            data={"needed": needed, "available": len(pool.drawable)},
        )
    size = min(promise.sample_size(target, confidence, coverage), len(pool.drawable))
    sample = sorted(random.SystemRandom().sample(pool.drawable, size))
    try:
        with transaction.atomic():
            drawn = Guarantee.objects.create(
                project=project,
                target=target,
                confidence=confidence,
                start_errors=promise.start_errors(target, confidence, coverage, size),
                rule=pool.rule.to_json(),
                labels_per_item=labels_per_item,
                bounds=promise.bounds_to_test(pool.uncertainties),
                specs=pool.specs,
                sample=sample,
                golds=newest_golds(sample),
                drawn_by=actor,
            )
            record(Action.AUTOMATION_CHANGED, project, changes={"state": (None, drawn.state)})
            return drawn
    except IntegrityError:
        raise Conflict("This project has a sample or a promise already.") from None


def queue_sample(guarantee: Guarantee) -> int:
    """Queue the undecided items of the sample for blind labels, unless their author has answered;
    returns how many changed.

    Repeated while the sample is labelled: a new rule or debate gives its items other reasons.
    """
    project, moved, raised = guarantee.project, 0, 0

    def blind_reasons(locked: Collection[int]) -> dict[int, list[str]]:
        """The audit reason, but not of items labelled beside the suggestion before the lock."""
        led = led_items(project, list(locked))
        return {item_id: list(ONLY_AUDITED) for item_id in locked if item_id not in led}

    undecided = Q(gold=None) | Q(gold__decided_by__kind__in=MACHINES)
    words = author_labels_before(project, guarantee.drawn_at).filter(item__in=guarantee.sample)
    sample = sorted({*guarantee.sample} - {*words.values_list("item_id", flat=True)})
    for start in range(0, len(sample), CHUNK):
        states = ItemState.objects.filter(undecided, item__in=sample[start : start + CHUNK])
        lost = states.exclude(reasons=ONLY_AUDITED).order_by("item_id")
        if guarantee.labels_per_item > 1:
            # Before anybody is asked: one label would decide the item.
            few = states.exclude(required_here=guarantee.labels_per_item)
            raised += require_labels_here(
                project, few.values_list("item_id", flat=True), guarantee.labels_per_item
            )
        if ids := list(lost.values_list("item_id", flat=True)):
            moved += reroute_items(project, ids, blind_reasons)
    if moved or raised:
        # Whoever ended the sample meanwhile may have settled its items before these were queued.
        row = Guarantee.objects.filter(pk=guarantee.pk).exclude(state=Guarantee.State.DRAWN)
        row.update(applied=False)
    return moved


def why_stale(guarantee: Guarantee) -> str:
    """Why the sample no longer fits the current rule or debates; empty if it does."""
    project = guarantee.project
    rule = without_certainty(rule_of(project))
    if not same_rule(read_rule(guarantee.rule), rule):
        return gettext(
            "The routing rule has been changed since the sample was drawn: draw it anew."
        )
    if other_runs(guarantee) or labelled_by_others(project, rule, guarantee.specs):
        return gettext(
            "Another set-up has labelled items since the sample was drawn: draw it anew."
        )
    return ""


def other_runs(guarantee: Guarantee) -> bool:
    """Whether other set-ups (protocol, model, prompt or schema) debate now, or have since the
    drawing."""
    since = guarantee.switched_on_at or guarantee.drawn_at
    going = (Run.Status.QUEUED, Run.Status.RUNNING)
    others = Run.objects.filter(project=guarantee.project_id, trial=False)
    others = others.exclude(spec_hash__in=guarantee.specs)
    late = Q(created_at__gte=since) | Q(finished_at__gte=since) | Q(status__in=going)
    return others.filter(late).exists()


def same_rule(rule: Rule, other: Rule) -> bool:
    """Whether two rules accept the same, whatever they audit."""
    return (rule.flags, dict(rule.bounds)) == (other.flags, dict(other.bounds))
