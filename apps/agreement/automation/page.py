"""All of a promise as its page and REST show it: what it takes, where it stands, what it found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.agreement.automation import promise
from apps.agreement.automation.calibration import Pool, read_pool
from apps.agreement.automation.counts import Counts, count_pool
from apps.agreement.automation.decisions import first_decisions
from apps.agreement.automation.judging import Drawn, Verdict, judge, sample_of
from apps.agreement.automation.sampling import changed_since
from apps.agreement.automation.shares import LabelShare, label_shares
from apps.agreement.automation.tasks import look
from apps.agreement.automation.watching import audit_of
from apps.agreement.figures.risk_coverage import RiskCoverage, risk_coverage
from apps.agreement.models import Guarantee
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.risk_control import Audit, Step, labels_needed

State = Guarantee.State
FAILURES = {
    "too_few_labels": "Too few of the sample would be accepted by any bound to bear the promise "
    "out. Debate more items and draw a larger sample, or allow more errors.",
    "errors_above_target": "At the first bound that the sample can test, too many were wrong "
    "already. Allow more errors, or improve the debate: a clearer guideline, another protocol or "
    "model.",
}
ENDINGS = {
    Guarantee.Ending.SWITCHED_OFF: "It was switched off by hand. The routing rule and the review "
    "plan are what they were before it.",
    Guarantee.Ending.ABANDONED: "The sample was given up before anything was switched on.",
    Guarantee.Ending.BROKEN: "The blind audit found more errors than were promised. Everything "
    "goes to people again, and what was accepted meanwhile waits for them.",
    Guarantee.Ending.OTHER_DEBATES: "A run with another protocol, model, prompt or schema labels "
    "now; the sample says nothing about it. Everything goes to people again.",
    Guarantee.Ending.RULE_CHANGED: "The routing rule was changed by hand. What it accepts now is "
    "accepted without a promise.",
    Guarantee.Ending.PLAN_CHANGED: "The review plan was changed by hand: everything goes to "
    "people, so nothing is left to promise.",
}
#: Targets to compare in the table of what it takes.
TARGETS = (0.01, 0.02, 0.05, 0.1, 0.2)
KEPT = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What a promise would take.

    ``needed``: labels that bound the error by the target if none is wrong; ``size``: items to draw,
    so that the hoped share can be accepted and a stray error does not end it, or all where there
    are fewer than the ``wanted``; ``notice``: audits after which twice the promised error is
    noticed.
    """

    target: float
    confidence: float
    coverage: float
    needed: int
    wanted: int
    size: int
    available: int
    notice: int

    @property
    def enough(self) -> bool:
        """Whether so many items may be drawn at all."""
        return self.available >= self.needed


@dataclass(frozen=True, slots=True)
class Row:
    """A bound that was tried: the least certainty accepted, what the sample says, the share of all
    debated items that it accepts."""

    certainty: float
    step: Step
    share: float
    chosen: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """Where safe automation stands in a project; what does not apply is None or empty."""

    pool: Counts
    plan: Plan
    guarantee: Guarantee | None
    last: Guarantee | None
    drawn: Drawn | None
    stale: str
    verdict: Verdict | None
    rows: Sequence[Row]
    figure: RiskCoverage | None
    shares: Sequence[LabelShare]
    audit: Audit | None
    accepted_now: float

    @property
    def judged(self) -> int:
        """How many items of the sample can count."""
        return len(self.drawn.known) + len(self.drawn.pending) if self.drawn else 0

    @property
    def chosen(self) -> Row | None:
        """The bound that keeps the promise."""
        return next((row for row in self.rows if row.chosen), None)

    @property
    def failure(self) -> str:
        """Why a complete sample does not bear the promise out, in words."""
        if self.verdict is None or self.verdict.choice.chosen:
            return ""
        return FAILURES[self.verdict.choice.reason]


def standing(project: Project, asked: tuple[float, float, float] | None = None) -> Standing:
    """Where it stands now, after a look at whether a promise in force still holds.

    Args:
        project: whose.
        asked: target, confidence and hoped coverage of the plan; the live promise's, or the usual
            ones, by default.
    """
    live = look(project)
    last = None
    if live is None:
        over = Guarantee.objects.filter(project=project, state=State.OFF)
        last = over.select_related("ended_by").order_by("-ended_at", "-pk").first()
    counts = count_pool(project)
    drawn = sample_of(live) if live else None
    verdict = judge(live, drawn) if live and drawn else None
    pool = read_pool(project) if verdict else None
    rows = _rows(verdict, pool) if verdict and pool else []
    return Standing(
        pool=counts,
        plan=plan_of(counts, *(asked or _asked_by(live))),
        guarantee=live,
        last=last,
        drawn=drawn,
        stale=changed_since(live) if live and live.state == State.DRAWN else "",
        verdict=verdict,
        rows=rows,
        figure=_figure(rows, live.target) if live else None,
        shares=_shares(live, pool, drawn) if live and pool and drawn else [],
        audit=audit_of(live) if live and live.state == State.ON else None,
        accepted_now=_accepted(live, pool) if live and pool else 0.0,
    )


def plan_of(pool: Counts, target: float, confidence: float, coverage: float) -> Plan:
    """What a promise of these numbers takes here."""
    promise.checked(target, confidence, coverage)
    available = pool.available
    wanted = promise.sample_size(target, confidence, coverage)
    return Plan(
        target=target,
        confidence=confidence,
        coverage=coverage,
        needed=labels_needed(target, confidence),
        wanted=wanted,
        size=min(wanted, available),
        available=available,
        notice=promise.audits_to_notice(target, confidence),
    )


def needed_by_target(confidence: float) -> list[tuple[float, int, int]]:
    """What usual targets take: labels without an error among them, and with one."""
    return [
        (target, labels_needed(target, confidence), labels_needed(target, confidence, 1))
        for target in TARGETS
    ]


def ended(project: Project) -> list[Guarantee]:
    """The promises of before, the latest first."""
    over = Guarantee.objects.filter(project=project, state=State.OFF)
    return list(over.select_related("ended_by", "switched_on_by")[:KEPT])


def lost_promise(project: Project) -> Guarantee | None:
    """The newest promise, if it ended by itself since it was switched on."""
    newest = Guarantee.objects.filter(project=project).first()
    lost = newest and newest.ending in (Guarantee.Ending.BROKEN, Guarantee.Ending.OTHER_DEBATES)
    return newest if lost else None


def ending_words(guarantee: Guarantee) -> str:
    """Why a promise ended and what became of the items."""
    return ENDINGS[Guarantee.Ending(guarantee.ending)]


def _asked_by(live: Guarantee | None) -> tuple[float, float, float]:
    target = live.target if live else promise.USUAL_TARGET
    confidence = live.confidence if live else promise.USUAL_CONFIDENCE
    return target, confidence, promise.USUAL_COVERAGE


def _accepted(live: Guarantee, pool: Pool) -> float:
    """Share of all debated items that a promise in force accepts."""
    if live.bound is None or not pool.debated:
        return 0.0
    return pool.accepted(live.bound) / pool.debated


def _shares(live: Guarantee, pool: Pool, drawn: Drawn) -> Sequence[LabelShare]:
    decided = first_decisions(live).truths
    truths = {item: decided[item] for item in drawn.known if item in decided}
    return label_shares(pool, truths, current_schema(live.project).parsed)


def _rows(verdict: Verdict, pool: Pool) -> list[Row]:
    """The steps by the certainty they accept, not by the score that was compared."""
    chosen = verdict.choice.chosen
    return [
        Row(
            promise.certainty_of(bound),
            replace(step, threshold=promise.certainty_of(bound)),
            pool.accepted(bound) / max(pool.debated, 1),
            step is chosen,
        )
        for bound, step in zip(verdict.bounds, verdict.choice.path, strict=True)
    ]


def _figure(rows: Sequence[Row], target: float) -> RiskCoverage | None:
    chosen = next((row.step for row in rows if row.chosen), None)
    return risk_coverage([row.step for row in rows], target=target, chosen=chosen)
