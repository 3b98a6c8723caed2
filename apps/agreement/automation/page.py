"""A promise as its page and REST show it: its costs, its state, its results."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from apps.agreement.automation import promise
from apps.agreement.automation.decisions import author_labels_before
from apps.agreement.automation.guarantee import check_live_promise
from apps.agreement.automation.pool import Counts, count_debated_since, count_pool, reach_of
from apps.agreement.automation.promise import Terms, may_allow_more
from apps.agreement.automation.sample import Drawn, judge, sample_of, why_stale
from apps.agreement.models import Guarantee
from apps.common.charts import Axis, Chart, Line, Mark, Point, Rule, number_tick, share_tick
from apps.common.figures import count_words, localise, percent_words, share_words
from apps.labels.models import Gold, ItemState
from apps.projects.models import Project
from labelhub.core.agreement.risk_control import Audit, Choice, Step, labels_needed

Ending = Guarantee.Ending
#: By the reason, and whether the promise may allow more errors.
FAILURES = {
    ("too_few_labels", True): _(
        "Every bound accepts too few items of the sample to prove the promise. Debate more items "
        "and draw a larger sample, or allow more errors."
    ),
    ("too_few_labels", False): _(
        "Every bound accepts too few items of the sample to prove the promise. Debate more items "
        "and draw a larger sample."
    ),
    ("errors_above_target", True): _(
        "Too many items were wrong at the first bound that the sample can test. Allow more errors, "
        "or improve the debate: a clearer guideline, another protocol or model."
    ),
    ("errors_above_target", False): _(
        "Too many items were wrong at the first bound that the sample can test. Improve the "
        "debate: a clearer guideline, another protocol or model."
    ),
}
ENDINGS = {
    Ending.SWITCHED_OFF: _(
        "It was switched off by hand. The routing rule and the review plan were restored."
    ),
    Ending.ABANDONED: _("The sample was discarded before anything was switched on."),
    Ending.BROKEN: _(
        "The blind audit found more errors than promised. All items go to people again, also those "
        "accepted meanwhile."
    ),
    Ending.OTHER_DEBATES: _(
        "A run with another protocol, model, prompt or schema labels items now, and the sample "
        "says nothing about it. All items go to people again."
    ),
    Ending.RULE_CHANGED: _(
        "The routing rule was changed by hand. It now accepts items without a promise."
    ),
    Ending.LABELS_CHANGED: _(
        "Labels were merged, split or retired, and the sample says nothing about the current ones. "
        "All items go to people again."
    ),
    Ending.PLAN_CHANGED: _(
        "The review plan was changed by hand: all items go to people, so nothing is left to "
        "promise."
    ),
}


def failure_words(target: float, verdict: Choice | None) -> str:
    """Why a judged sample does not prove its promise, and what to do; empty if it does."""
    if verdict is None or verdict.chosen:
        return ""
    return str(FAILURES[verdict.reason, may_allow_more(target)])


def failure_of(guarantee: Guarantee) -> str:
    """The same for a stored promise; empty if its sample was never judged. No query."""
    if guarantee.verdict is None:
        return ""
    return failure_words(guarantee.target, judge(guarantee, sample_of(guarantee)))


def ending_words(guarantee: Guarantee) -> str:
    """Why a promise ended and what happened to the items."""
    if not failure_of(guarantee):
        return str(ENDINGS[Ending(guarantee.ending)])
    words = ngettext(
        "The sample failed and was discarded. It should have proven at most %(target)s wrong at a "
        "confidence of %(confidence)s, but %(wrong)s of %(labelled)s was wrong. Drawing samples "
        "until one passes would break the promise.",
        "The sample failed and was discarded. It should have proven at most %(target)s wrong at a "
        "confidence of %(confidence)s, but %(wrong)s of %(labelled)s were wrong. Drawing samples "
        "until one passes would break the promise.",
        guarantee.wrong or 0,
    )
    return words % {
        "target": _percent(guarantee.target),
        "confidence": _percent(guarantee.confidence),
        **_wrong_ones(guarantee),
    }


def short_ending_words(guarantee: Guarantee) -> str:
    """The same for a row of a table."""
    if not failure_of(guarantee):
        return guarantee.get_ending_display()
    words = ngettext(
        "The sample failed: %(wrong)s of %(labelled)s was wrong",
        "The sample failed: %(wrong)s of %(labelled)s were wrong",
        guarantee.wrong or 0,
    )
    return words % _wrong_ones(guarantee)


def _wrong_ones(guarantee: Guarantee) -> dict[str, str]:
    """How many of a judged sample were wrong."""
    labelled = len(sample_of(guarantee).known)
    return {"wrong": count_words(guarantee.wrong or 0), "labelled": count_words(labelled)}


def _percent(share: float) -> str:
    return percent_words(f"{100 * share:.4g}")


COVERAGES = (
    ("75", _("three quarters of the items")),
    ("50", _("half of the items")),
    ("25", _("a quarter of the items")),
    ("10", _("a tenth of the items")),
)
LABELS = ((1, _("one")), (2, _("two that must agree")))
#: A promise of fewer errors would take more than thirty thousand labels at the usual confidence.
LEAST_PERCENT = 0.01


class PromiseForm(forms.Form):
    target = forms.FloatField(
        min_value=LEAST_PERCENT,
        max_value=100 * promise.MOST_TARGET,
        initial=f"{100 * promise.USUAL_TARGET:g}",
        widget=forms.NumberInput(attrs={"step": "any"}),
        label=_("Wrong at most, in per cent"),
        help_text=_("Among the items that are accepted without a person."),
    )
    confidence = forms.FloatField(
        min_value=100 * promise.LEAST_CONFIDENCE,
        max_value=100 * promise.MOST_CONFIDENCE,
        initial=f"{100 * promise.USUAL_CONFIDENCE:g}",
        widget=forms.NumberInput(attrs={"step": "any"}),
        label=_("Confidence, in per cent"),
        help_text=_("Of a hundred projects that draw such a sample, so many keep the promise."),
    )
    coverage = forms.ChoiceField(
        choices=COVERAGES,
        initial="50",
        label=_("Items you hope to accept"),
        help_text=_("The fewer items are accepted, the more must be labelled."),
    )
    labels_per_item = forms.TypedChoiceField(
        choices=LABELS,
        coerce=int,
        required=False,
        initial=1,
        label=_("Blind labels per item of the sample"),
        help_text=_("Where two people differ, an expert decides."),
    )

    def asked(self) -> Terms:
        """The terms of the checked form."""
        data = self.cleaned_data
        return Terms(
            target=_share(data["target"]),
            confidence=_share(data["confidence"]),
            coverage=_share(float(data["coverage"])),
            labels_per_item=data["labels_per_item"] or 1,
        )


def _share(percent: float) -> float:
    # 2.3 per cent as 0.023, not as 0.022999999999999996.
    return round(percent / 100, 10)


State = Guarantee.State
#: Basis of gold → the deciders of items of a sample before it was drawn, in words.
DECIDERS: dict[str, str] = {
    Gold.Basis.IMPORTED: gettext_noop("by gold that came with the items"),
    Gold.Basis.AUTHOR: gettext_noop("by their authors"),
    Gold.Basis.REVIEW: gettext_noop("by their reviewers"),
    Gold.Basis.AGREEMENT: gettext_noop("by their reviewers"),
    Gold.Basis.ADJUDICATION: gettext_noop("by an expert"),
}
#: Targets to compare in the chart of labels needed.
TARGETS = (0.01, 0.02, 0.05, 0.1, 0.2)
KEPT = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """The costs of a promise.

    ``needed``: labels that bound the error by the target if none is wrong; ``size``: items to draw,
    so that the hoped share can be accepted and a stray error does not end it, or all if there are
    fewer than the ``wanted``; ``surest``: how many of them the first bound must accept, with at
    most ``tolerated`` wrong ones; ``available``: how many may be drawn, ``decided``: of
    these by people already; ``notice``: audits after which an error that rises to twice the
    promised one is noticed.
    """

    terms: Terms
    needed: int
    wanted: int
    size: int
    surest: int
    tolerated: int
    available: int
    decided: int
    notice: int

    @property
    def labels(self) -> int:
        """The expected number of labels, of drawn items that people have yet to decide."""
        items = self.size * (1 - self.decided / max(self.available, 1))
        return round(items * self.terms.labels_per_item)

    @property
    def share(self) -> float:
        """The share of the items that is accepted if the first bound passes."""
        return min(1.0, self.surest / max(self.size, 1))

    @property
    def enough(self) -> bool:
        """Whether so many items may be drawn at all."""
        return self.available >= self.needed

    @property
    def later(self) -> int:
        """How many good audits the error rises after."""
        return promise.LATER

    @property
    def reviewer_error(self) -> str:
        """What mistakes of reviewers do to the promise, in words."""
        slips = promise.USUAL_SLIPS
        shown = {
            labels: localise(f"{self.surest * promise.slips_counted(slips, labels):.1f}")
            for labels, _words in LABELS
        }
        return gettext(
            "What people say is taken for the truth, so the measured error is about the debate’s "
            "error plus the reviewers’. If they err in %(slips)s of the items, a debate that is "
            "always right looks wrong in about %(with_one)s of the %(surest)s most certain with "
            "one label per item, and in about %(with_two)s with two; the test allows %(tolerated)s."
        ) % {
            "slips": share_words(slips),
            "surest": count_words(self.surest),
            "tolerated": count_words(self.tolerated),
            "with_one": shown[1],
            "with_two": shown[2],
        }

    @property
    def may_allow_more(self) -> bool:
        return promise.may_allow_more(self.terms.target)


@dataclass(frozen=True, slots=True)
class TriedBound:
    """A tested bound: the least certainty accepted, the result in the sample, and the share of all
    debated items that it accepts."""

    certainty: float
    step: Step
    share: float
    chosen: bool


@dataclass(frozen=True)
class AutomationState:
    """The state of auto-accept in a project; parts that do not apply are None or empty.

    ``pool`` and ``plan`` are counted on demand over all debates; a verdict keeps the counts of its
    time.
    """

    project: Project
    asked: Terms
    guarantee: Guarantee | None
    last: Guarantee | None
    drawn: Drawn | None
    stale: str
    verdict: Choice | None
    rows: Sequence[TriedBound]
    figure: Chart | None
    reach: Mapping[str, Any] | None
    audit: Audit | None
    decided_before: Sequence[tuple[str, int]]
    for_experts: int

    @cached_property
    def pool(self) -> Counts:
        return Counts(**self.reach["pool"]) if self.reach else count_pool(self.project)

    @cached_property
    def debated_since(self) -> int:
        """How many items were debated for the first time since the sample was drawn."""
        return count_debated_since(self.guarantee) if self.guarantee else 0

    @cached_property
    def plan(self) -> Plan:
        return plan_of(self.pool, self.asked)

    @property
    def shares(self) -> Sequence[Mapping[str, Any]]:
        """How often each label occurs, by the sample."""
        return self.reach["shares"] if self.reach else []

    @property
    def judged(self) -> int:
        """How many items of the sample can count."""
        return len(self.drawn.known) + len(self.drawn.pending) if self.drawn else 0

    @property
    def chosen(self) -> TriedBound | None:
        """The bound that keeps the promise."""
        return next((row for row in self.rows if row.chosen), None)

    @property
    def meaning(self) -> str:
        """The promise in words: what its confidence counts, and what it holds for."""
        missed, projects = promise.misses_among((self.guarantee or self.asked).confidence)
        words = ngettext(
            "Of %(projects)s projects that draw such a sample, at most %(missed)s accepts with a "
            "higher error.",
            "Of %(projects)s projects that draw such a sample, at most %(missed)s accept with a "
            "higher error.",
            missed,
        )
        found = words % {"projects": count_words(projects), "missed": count_words(missed)}
        scope = gettext(
            "This holds for items like those sampled, and not for new authors, templates or "
            "sources."
        )
        return f"{found} {scope}"

    @property
    def notice(self) -> int:
        """Further audits after which twice the promised error is noticed if it starts now."""
        terms, audits = self.guarantee or self.asked, self.audit.n if self.audit else 0
        # Two digits are enough, and need not be computed anew for every answer.
        good = round(audits, 2 - len(str(audits)))
        return promise.audits_to_notice(terms.target, terms.confidence, good)

    @property
    def failure(self) -> str:
        """Why a complete sample does not prove the promise, in words."""
        return failure_words(self.guarantee.target, self.verdict) if self.guarantee else ""


def automation_state(project: Project, asked: Terms | None = None) -> AutomationState:
    """The current state, after a check whether the promise in force still holds.

    Args:
        asked: the terms of the plan; the live promise's, or the usual ones, by default.
    """
    live, drawn, audit = check_live_promise(project)
    last = None
    if live is None:
        over = Guarantee.objects.filter(project=project, state=State.OFF)
        last = over.select_related("ended_by").order_by("-ended_at", "-pk").first()
    if asked is None:
        asked = (
            Terms(live.target, live.confidence, labels_per_item=live.labels_per_item)
            if live
            else Terms()
        )
    promise.check_terms(asked)
    verdict = judge(live, drawn) if live and drawn else None
    reach = reach_of(live, drawn.known) if live and drawn and live.verdict is not None else None
    rows = []
    if live and verdict and reach:
        # By the certainty that they accept, not by the score that was compared.
        rows = [
            TriedBound(
                certainty := promise.certainty_of(bound),
                replace(step, threshold=certainty),
                accepted / max(reach["pool"]["debated"], 1),
                step is verdict.chosen,
            )
            for bound, step, accepted in zip(
                live.bounds, verdict.path, reach["accepted"], strict=True
            )
        ]
    chosen = next((row.step for row in rows if row.chosen), None)
    pending = drawn.pending if drawn else []
    disputed = ItemState.objects.filter(item__in=pending, stage=ItemState.Stage.CONFLICT)
    return AutomationState(
        project=project,
        asked=asked,
        guarantee=live,
        last=last,
        drawn=drawn,
        stale=why_stale(live) if live and live.state == State.DRAWN else "",
        verdict=verdict,
        rows=rows,
        figure=risk_coverage([row.step for row in rows], target=live.target, chosen=chosen)
        if live
        else None,
        reach=reach,
        audit=audit,
        decided_before=_earlier_deciders(live) if live else [],
        for_experts=disputed.count() if drawn else 0,
    )


def plan_of(pool: Counts, terms: Terms) -> Plan:
    """The costs of a promise with these terms in this pool."""
    promise.check_terms(terms)
    target, confidence, coverage, _ = terms
    available = pool.available
    wanted = promise.sample_size(target, confidence, coverage)
    size = min(wanted, available)
    tolerated = promise.start_errors(target, confidence, coverage, size)
    return Plan(
        terms=terms,
        needed=labels_needed(target, confidence),
        wanted=wanted,
        size=size,
        surest=labels_needed(target, confidence, tolerated),
        tolerated=tolerated,
        available=available,
        decided=pool.decided,
        notice=promise.audits_to_notice(target, confidence),
    )


def labels_by_target(plan: Plan) -> Chart:
    """How many labels usual targets need, beside the target of the plan."""
    target, confidence, _, labels_per_item = plan.terms
    known = [
        (wanted, labels_per_item * labels_needed(wanted, confidence))
        for wanted in sorted({*TARGETS, target})
    ]
    shown = [point for point in known if point[0] >= TARGETS[0]]
    return Chart(
        key="labels-by-target",
        title=gettext("Labels needed, by the share of wrong ones allowed"),
        description=gettext("At a confidence of %(confidence)s, if none of them is wrong.")
        % {"confidence": share_tick(confidence)},
        # Columns stay English; the page looks up their translations.
        rows=[
            {
                gettext_noop("wrong at most"): wanted,
                gettext_noop("labels, none wrong"): needed,
                gettext_noop("labels, one wrong"): labels_per_item
                * labels_needed(wanted, confidence, 1),
            }
            for wanted, needed in known
        ],
        shares=["wrong at most"],
        x=Axis(
            title=gettext("wrong at most"),
            ticks=TARGETS[1:],
            low=0,
            high=max(TARGETS[-1], target),
        ),
        y=Axis(
            title=gettext("blind labels needed, if none is wrong"),
            low=0,
            high=1.1 * max(needed for _, needed in shown or known),
            words=number_tick,
        ),
        marks=[
            Rule(
                x=target,
                name=gettext("%(number)s for at most %(target)s")
                % {
                    "number": count_words(labels_per_item * plan.needed),
                    "target": _percent(target),
                },
            ),
            Line(points=shown or known, kind="accent"),
            Point(x=target, y=labels_per_item * plan.needed, kind="accent"),
        ],
        height=120,
    )


def ended_promises(project: Project) -> list[Guarantee]:
    over = Guarantee.objects.filter(project=project, state=State.OFF)
    return list(over.select_related("ended_by", "switched_on_by")[:KEPT])


def lost_promise(project: Project) -> Guarantee | None:
    """The newest promise, if the server ended it."""
    newest = Guarantee.objects.filter(project=project).first()
    lost = newest and newest.ending in (Guarantee.Ending.BROKEN, Guarantee.Ending.OTHER_DEBATES)
    return newest if lost else None


def _earlier_deciders(live: Guarantee) -> list[tuple[str, int]]:
    """How many items of the sample were decided before the drawing, by deciders in words."""
    words = author_labels_before(live.project, live.drawn_at).filter(item__in=live.sample)
    authors = frozenset(words.values_list("item_id", flat=True))
    golds = [pk for item, pk in live.golds.items() if int(item) not in authors]
    known = Gold.objects.filter(pk__in=golds, withdrawn=False, basis__in=DECIDERS)
    found = Counter(DECIDERS[basis] for basis in known.order_by().values_list("basis", flat=True))
    found += Counter({DECIDERS[Gold.Basis.AUTHOR]: len(authors)})
    return [(gettext(decider), number) for decider, number in found.most_common()]


#: Bounds above this many targets show only that nothing is known; only the table has them.
WORTH_DRAWING = 4


def risk_coverage(
    steps: Sequence[Step],
    *,
    target: float,
    chosen: Step | None = None,
) -> Chart | None:
    """How many items may be accepted without a person, and how many of those would be wrong.

    ``steps`` is the ``path`` of ``risk_control.choose_threshold``; None with fewer than two.
    """
    known = sorted(
        (step.coverage, step.error, step.bound) for step in steps if step.error is not None
    )
    if len(known) < 2:
        return None
    most = min(1.0, max(WORTH_DRAWING * target, 1.15 * max(error for _, error, _ in known)))
    description = gettext("Solid: error among the accepted; broken: its upper bound.")
    aim = gettext("target %(target)s") % {"target": share_tick(target)}
    marks: list[Mark] = [Rule(y=target, name=aim)]
    if chosen is None:
        description += " " + gettext("No threshold keeps the target of %(target)s.") % {
            "target": share_tick(target)
        }
    else:
        accepted = gettext("%(share)s accepted, at most %(bound)s wrong") % {
            "share": share_words(chosen.coverage),
            "bound": percent_words(f"{100 * chosen.bound:.1f}"),
        }
        description += " " + gettext("Chosen: %(accepted)s, %(aim)s.") % {
            "accepted": accepted,
            "aim": aim,
        }
        marks += [
            Rule(x=chosen.coverage, name=accepted, strong=True),
            Point(x=chosen.coverage, y=chosen.bound, kind="accent", words=accepted),
        ]
    return Chart(
        key="risk-coverage",
        title=gettext("Error among the accepted, by the share accepted"),
        description=description,
        rows=[
            {
                gettext_noop("threshold"): step.threshold,
                gettext_noop("accepted share"): step.coverage,
                gettext_noop("accepted"): step.accepted,
                gettext_noop("wrong"): step.errors,
                gettext_noop("error"): step.error,
                gettext_noop("upper bound"): step.bound,
                "note": "chosen" if step == chosen else "",
            }
            for step in sorted(steps, key=lambda step: step.coverage)
        ],
        x=Axis(title=gettext("accepted without a person"), ticks=(0, 0.25, 0.5, 0.75, 1)),
        y=Axis(title=gettext("wrong among the accepted"), high=most),
        marks=[
            *marks,
            Line(
                points=[(coverage, bound) for coverage, _, bound in known if bound <= most],
                kind="accent",
                dash=1,
                name=gettext("at most"),
            ),
            Line(
                points=[(coverage, error) for coverage, error, _ in known],
                kind="accent",
                name=gettext("error"),
            ),
        ],
    )
