"""The comparison of an experiment's arms: computed once for each state of its debates and gold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.core.cache import cache
from django.db.models import Max
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop, override

from apps.agreement.experiments.answers import (
    Answers,
    ArmAnswers,
    answers_of,
    author_labels,
    letter_of,
    models_of,
    predicts,
    title_of,
    votes_for,
)
from apps.agreement.experiments.opinions import (
    NO_MEASURE,
    Ambiguity,
    Step,
    VoteAgreement,
    own_ambiguity,
    shared_ambiguity,
    steps_of,
    vote_agreement_of,
)
from apps.debates.models import Experiment
from apps.debates.selectors.experiments import Arm, comparison_state
from apps.projects.changes import compared_schema
from labelhub.core.agreement.arms import (
    NOTHING,
    ArmPair,
    ArmScores,
    compare_arms,
    mean_per_pass,
    pareto_front,
    score_arm,
)
from labelhub.core.agreement.figures import Figure, Resample, clustered_share, resample, undefined
from labelhub.core.debate import protocol
from labelhub.core.errors import InvalidInput
from labelhub.core.schema import LabelType, Value

KIND_WORDS = {
    "overruled": _("The critic was overruled"),
    "wrong-right": _("Wrong at first, right in the end"),
    "right-wrong": _("Right at first, wrong in the end"),
    "wrong-wrong": _("Wrong from first to last"),
    "right-right": _("Right from first to last"),
    "right": _("Right in the end"),
    "wrong": _("Wrong in the end"),
    "unparsed": _("No usable label"),
}
#: The kinds of debates on the page of an experiment, and how many of each it shows.
WORTH = ("overruled", "wrong-right", "right-wrong")
SHOWN = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """One debate: its first and last opinion, and the truth."""

    debate_id: int
    run_id: int
    item_id: int
    first: Value | None
    last: Value | None
    gold: Value


def debates_by_kind(answers: Answers, answered: ArmAnswers) -> dict[str, list[int]]:
    """Kind → which of an arm's debates are of it; protocols with one opinion change no minds."""
    gold = answers.gold[answered.rows]
    right = answered.predicted == gold
    found = {
        "right": right,
        "wrong": ~right,
        "unparsed": answered.predicted == NOTHING,
    }
    if "first" in answered.signals:
        began = answers.codes.all_of(answered.signals["first"]) == gold
        found |= {
            "wrong-right": ~began & right,
            "right-wrong": began & ~right,
            "wrong-wrong": ~began & ~right,
            "right-right": began & right,
        }
    places = {kind: [int(place) for place in mask.nonzero()[0]] for kind, mask in found.items()}
    if "flips" in answered.signals:
        # Debates in which the judge did not follow the critic.
        places["overruled"] = [
            place
            for place, flips in enumerate(answered.signals["flips"])
            if isinstance(flips, dict) and flips.get("critic")
        ]
    return places


def readings_at(answers: Answers, answered: ArmAnswers, places: Sequence[int]) -> Iterator[Reading]:
    """Those debates of an answered."""
    first = answered.signals.get("first")
    for place in places:
        row = int(answered.rows[place])
        yield Reading(
            debate_id=answered.debates[place],
            run_id=answered.arm.run.pk,
            item_id=answers.items[row],
            first=first[place] if first else None,
            last=answered.values[place],
            gold=answers.decided[row],
        )


#: How long an unused comparison is cached; computing it again takes about a second.
KEPT_SECONDS = 3600
VERSION = 8
NO_PRICE = gettext_noop("the price of a model is not known")
NO_AMBIGUOUS = gettext_noop("no item is ambiguous")
NO_NORMAL = gettext_noop("no item is normal")


@dataclass(frozen=True, slots=True)
class ArmReport:
    """Everything told of one arm; figures of what an item takes are for one pass.

    ``votes_for``: the letters of the debates whose budget this vote has. ``ambiguity``: by whose
    measure ``ambiguous`` and ``normal`` are told, in words.
    """

    run_id: int
    protocol: str
    trials_only: bool
    letter: str
    title: str
    models: str
    offline: bool
    votes_for: Sequence[str]
    passes: int
    failed: int
    scores: ArmScores
    cost: Figure
    seconds: Figure
    calls: Figure
    steps: Sequence[Step]
    voices: VoteAgreement | None
    ambiguous: Figure
    normal: Figure
    ambiguity: str
    kinds: Mapping[str, int]
    examples: Mapping[str, Sequence[Reading]]
    on_front: bool = False

    def to_json(self) -> dict[str, Any]:
        plain = ("letter", "title", "protocol", "models", "offline", "passes", "failed", "on_front")
        figures = ("seconds", "calls", "ambiguous", "normal", "ambiguity")
        return {
            "run": self.run_id,
            **{name: getattr(self, name) for name in plain},
            "votes_for": list(self.votes_for),
            "accuracy": self.scores.accuracy,
            "macro_f1": self.scores.macro_f1,
            "unparsed": self.scores.unparsed,
            "cost_usd": in_dollars(self.cost),
            **{name: getattr(self, name) for name in figures},
            "debates": dict(self.kinds),
            "labels": [label.to_json() for label in self.scores.labels],
            "changes": [step.to_json() for step in self.steps],
            "judges": self.voices.to_json() if self.voices else None,
        }


@dataclass(frozen=True, slots=True)
class ExperimentReport:
    """The arms beside each other on ``items`` verified items. ``axis``: what the front weighs;
    ``repeated``: whether an item passed more than once; ``by_author``: authors with all their items
    are what is drawn."""

    task: LabelType
    items: int
    arms: Sequence[ArmReport]
    pairs: Sequence[ArmPair]
    axis: str
    ambiguous_items: int | None
    repeated: bool
    by_author: bool

    @property
    def offline(self) -> bool:
        """Whether no LLM played in any arm."""
        return all(arm.offline for arm in self.arms)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; pairs name arms by their runs."""
        runs = [arm.run_id for arm in self.arms]
        return {
            "task": str(self.task),
            "items": self.items,
            "ambiguous_items": self.ambiguous_items,
            "arms": [arm.to_json() for arm in self.arms],
            "pairs": [
                {"one": runs[pair.first], "other": runs[pair.second], **pair.to_json()}
                | {"winner": None if pair.winner is None else runs[pair.winner]}
                for pair in self.pairs
            ],
        }


def report_of(experiment: Experiment, arms: Sequence[Arm]) -> ExperimentReport:
    """The current comparison of ``arms``; cached until a debate ends or gold changes."""
    state = comparison_state(experiment)
    if predicts(arms):
        _, versions, _ = compared_schema(arms[0].run.schema)
        own = author_labels(experiment.project, versions)
        state += (own.aggregate(last=Max("pk"))["last"],)
    state_key = "-".join(str(part).replace(" ", "_") for part in state)
    key = f"experiment-{VERSION}-{experiment.pk}-{state_key}"
    found: ExperimentReport | None = cache.get(key)
    if found is None or len(found.arms) != len(arms):
        with override("en"):  # in the cache for pages of any language, and for REST
            found = make_report(experiment, arms)
        cache.set(key, found, KEPT_SECONDS)
    return found


def in_dollars(cost: Figure) -> Figure:
    if cost["value"] is None:
        return cost
    ends = (cost["value"], cost["low"], cost["high"])
    value, low, high = (None if end is None else end / 1e9 for end in ends)
    return {**cost, "value": value, "low": low, "high": high}


def readings_of(experiment: Experiment, arms: Sequence[Arm], kind: str) -> list[Reading]:
    """All debates of ``arms`` of one kind, arm after arm in the order of items.

    Raises:
        InvalidInput: no such kind.
    """
    if kind not in KIND_WORDS:
        raise InvalidInput("kind: must be one of %(kind_words)s.", kind_words=", ".join(KIND_WORDS))
    answers = answers_of(experiment, arms)
    return [
        reading
        for answered in answers.arms
        for reading in readings_at(
            answers, answered, debates_by_kind(answers, answered).get(kind, ())
        )
    ]


def make_report(experiment: Experiment, arms: Sequence[Arm]) -> ExperimentReport:
    answers = answers_of(experiment, arms)
    sample = resample(len(answers.items), answers.authors)
    shared = shared_ambiguity(answers.arms, len(answers.items))
    votes = votes_for([(arm.run, arm.roles) for arm in arms], answers.schema.task)
    letters = {arm.run.pk: letter_of(place) for place, arm in enumerate(arms)}
    reports = [
        _arm(sample, answers, place, shared=shared, letters=letters, votes=votes)
        for place in range(len(answers.arms))
    ]
    # Cost, unless a price is unknown or nothing costs anything: then calls.
    costs = [report.cost["value"] for report in reports]
    axis = "cost" if all(cost is not None for cost in costs) and any(costs) else "calls"
    values = [(getattr(arm, axis)["value"], arm.scores.accuracy["value"]) for arm in reports]
    known = [
        (place, spent, right)
        for place, (spent, right) in enumerate(values)
        if spent is not None and right is not None
    ]
    best = {
        known[index][0] for index in pareto_front([(spent, right) for _, spent, right in known])
    }
    return ExperimentReport(
        task=answers.schema.task,
        items=len(answers.items),
        arms=[replace(report, on_front=place in best) for place, report in enumerate(reports)],
        pairs=compare_arms(sample, [arm.counts for arm in answers.arms]),
        axis=axis,
        ambiguous_items=int(shared.ambiguous.sum()) if shared else None,
        repeated=any(arm.counts.passes.max(initial=0) > 1 for arm in answers.arms),
        by_author=answers.authors is not None,
    )


def _arm(
    sample: Resample,
    answers: Answers,
    place: int,
    *,
    shared: Ambiguity | None,
    letters: Mapping[int, str],
    votes: Mapping[int, Sequence[int]],
) -> ArmReport:
    answered, schema = answers.arms[place], answers.schema
    arm, passes = answered.arm, answered.counts.passes
    found = score_arm(sample, answered.counts, schema.names if schema.task.labelled else ())
    kinds = debates_by_kind(answers, answered)
    by = shared or own_ambiguity(answered, place, len(answers.items))
    return ArmReport(
        run_id=arm.run.pk,
        protocol=arm.run.protocol,
        trials_only=protocol(arm.run.protocol).trials_only,
        letter=letters[arm.run.pk],
        title=title_of(arm.run.protocol, arm.run.protocol_settings),
        models=models_of(arm.roles),
        offline=all(role.model.offline for role in arm.roles),
        votes_for=[letters[run_id] for run_id in votes.get(arm.run.pk, ())],
        passes=int(passes.sum()),
        failed=arm.counts["failed"],
        scores=found,
        cost=mean_per_pass(sample, answered.spent.cost, passes)
        if answered.spent.priced
        else undefined(NO_PRICE),
        seconds=mean_per_pass(sample, answered.spent.seconds, passes),
        calls=mean_per_pass(sample, answered.spent.calls, passes),
        steps=steps_of(sample, answers, answered),
        voices=vote_agreement_of(sample, answers, answered, by),
        ambiguous=_accuracy_on(sample, answered, by, ambiguous=True),
        normal=_accuracy_on(sample, answered, by, ambiguous=False),
        ambiguity=f"by {letters[answers.arms[by.source].arm.run.pk]}: {by.words}" if by else "",
        kinds={kind: len(places) for kind, places in kinds.items()},
        examples={
            kind: tuple(readings_at(answers, answered, kinds[kind][:SHOWN]))
            for kind in WORTH
            if kinds.get(kind)
        },
    )


def _accuracy_on(
    sample: Resample, answered: ArmAnswers, by: Ambiguity | None, *, ambiguous: bool
) -> Figure:
    if by is None:
        return undefined(NO_MEASURE)
    wanted = by.ambiguous if ambiguous else by.normal
    right, passes = answered.counts.right * wanted, answered.counts.passes * wanted
    reason = NO_AMBIGUOUS if ambiguous else NO_NORMAL
    return clustered_share(sample, right, passes, reason=reason)
