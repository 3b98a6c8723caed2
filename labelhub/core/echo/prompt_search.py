"""The search for a feature's better instruction: proposed by a model, tested on held-out labels.

Like "automatic prompt engineer" (Zhou et al. 2023): a model reads some labelled messages and
proposes instructions, each is tried on labels that it has not seen, and the best are tried further
(successive halving: Karnin et al. 2013, Jamieson and Talwalkar 2016). Paper 004, section 3.4, only
names the method.

The present instruction stays unless another one beats it on all kept-back labels by an exact test
over authors, corrected for the number tried (Bonferroni). The alternative, one uncorrected test on
a last third of the labels, gave as many false alarms with simulated models and found fewer of the
much better instructions. The accuracy of the best of several is a little too high; its figure says
so.

No I/O: lists of calls out, lists of replies in. Prompts of trials are those of real predictions,
with examples of the shown side alone.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import blake2b
from math import ceil, nan, sqrt
from typing import Any, TypeAlias

import numpy as np

from labelhub.core.echo.examples import MOST_TEXT_TOKENS, Example, ExampleIndex, Wanted, shorten
from labelhub.core.echo.experiments.clusters import (
    Clusters,
    clusters,
    figure,
    quantile,
    rate_of,
    share_bounds,
    spread_of,
)
from labelhub.core.echo.prediction import (
    MOST_INSTRUCTION,
    FeatureTask,
    MessageContext,
    PredictPlan,
    instruction_faults,
    instruction_key,
    predict_call,
    read_instructions,
    read_prediction,
    same_answer,
    value_schema,
)
from labelhub.core.errors import InvalidInput
from labelhub.core.figures import Figure, undefined
from labelhub.core.llm.types import Call, Reply, Status
from labelhub.core.prompts import Prompt, fence
from labelhub.core.schema.menu import label_block

#: Share of the authors whose answers are shown to the model that writes instructions.
SHOWN = 0.3
#: The most answers of one author, so that no single author decides.
MOST_PER_AUTHOR = 5
#: Shares of the kept-back labels at which stages end; about half of the candidates go on each time.
STAGES = (0.25, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Sides:
    """The labels on both sides of a split by hash; no author is on both."""

    shown: tuple[Example, ...]
    kept_back: tuple[Example, ...]


@dataclass(slots=True)
class Trial:
    """The trial of an instruction.

    Args:
        instruction: "" for none.
        source: "present", "empty" or "proposed".
        number: names its calls; 0 for the present one.
        right: place of a kept-back label → whether its prediction was right; None if the call
            failed.
    """

    instruction: str
    source: str
    number: int = 0
    right: dict[int, bool | None] = field(default_factory=dict)

    @property
    def heard(self) -> dict[int, bool]:
        """``right`` without failed calls."""
        return {place: right for place, right in self.right.items() if right is not None}

    @property
    def score(self) -> float:
        """The accuracy over the answered labels; -1 without any."""
        heard = self.heard
        return sum(heard.values()) / len(heard) if heard else -1.0


def author_of(label: Example) -> str:
    """The cluster of a label: its author, else its conversation, else its message."""
    for kind, name in (("a", label.author), ("c", label.conversation), ("t", label.text)):
        if name:
            return f"{kind}:{name}"
    return ""


def sides(labels: Sequence[Example], key: str, most: int) -> Sides:
    """The labels split by a hash of the author keyed with ``key``.

    At most ``most`` are kept back. The order does not depend on that in ``labels``, and an author
    does not change sides when others join.
    """
    by_author: dict[str, list[Example]] = defaultdict(list)
    for label in {labelled.digest: labelled for labelled in labels}.values():
        by_author[author_of(label)].append(label)
    shown: list[Example] = []
    kept_back: list[Example] = []
    for author, own in by_author.items():
        side = shown if _place(key, author) < SHOWN else kept_back
        side += sorted(own, key=lambda label: _place(key, label.digest))[:MOST_PER_AUTHOR]
    for side in (shown, kept_back):
        side.sort(key=lambda label: (_place(key, label.digest), label.digest))
    return Sides(tuple(shown), tuple(kept_back[:most]))


def stages_of(labels: int) -> tuple[int, ...]:
    """The number of labels at the end of each stage."""
    return tuple(ceil(share * labels) for share in STAGES)


def trial_calls(challengers: int, labels: int) -> int:
    """The calls to try so many challengers and the present instruction."""
    calls, before, live = 0, 0, challengers
    for end in stages_of(labels):
        calls += (live + 1) * (end - before)
        before, live = end, halve(live)
    return calls


def halve(live: int) -> int:
    """How many of ``live`` candidates go on."""
    return (live + 1) // 2


def best(trials: Sequence[Trial], count: int) -> list[Trial]:
    """The best ``count`` trials; of equal ones the shorter."""
    return sorted(trials, key=lambda t: (-t.score, len(t.instruction), t.instruction))[:count]


def chance(challenger: Trial, present: Trial, labels: Sequence[Example]) -> float:
    """The p-value of the challenger's lead, 0 to 1.

    The exact one-sided sign-flip test over authors (Fisher's 1935 randomisation of pairs). With one
    label per author it is the exact one-sided test of McNemar (1947).
    """
    by_author = _leads(challenger, present, labels)
    leads = [abs(lead) for lead in by_author.values() if lead]
    seen, reach = sum(by_author.values()), sum(leads)
    ways = [0] * (2 * reach + 1)
    ways[reach] = 1
    for lead in leads:
        up = [0] * lead + ways[: len(ways) - lead]
        down = ways[lead:] + [0] * lead
        ways = [shifted + other for shifted, other in zip(up, down, strict=True)]
    return float(Fraction(sum(ways[reach + seen :]), 2 ** len(leads)))


def accuracy(trial: Trial, labels: Sequence[Example], doubt: str = "") -> Figure:
    """The accuracy of a trial, with an interval clustered by author."""
    right: dict[str, float] = defaultdict(float)
    tried: dict[str, float] = defaultdict(float)
    for place, correct in trial.heard.items():
        right[author_of(labels[place])] += correct
        tried[author_of(labels[place])] += 1
    rate = rate_of(clusters([right[author] for author in tried], list(tried.values())))
    if rate is None:
        return undefined("It was tried on no label.")
    method = "Wilson, clustered by author"
    return figure(rate.value, share_bounds(rate), n=len(trial.heard), method=method, doubt=doubt)


def difference(
    challenger: Trial, present: Trial, labels: Sequence[Example], confidence: float
) -> Figure:
    """The difference in accuracy, paired by label, with an interval clustered by author."""
    leads = _leads(challenger, present, labels)
    if not leads:
        return undefined("No label was predicted with both.")
    sizes: dict[str, int] = defaultdict(int)
    for place in challenger.heard.keys() & present.heard.keys():
        sizes[author_of(labels[place])] += 1
    total = sum(sizes.values())
    value = sum(leads.values()) / total
    events = np.array([leads[author] for author in sizes], np.float64)
    bounds, doubt = (nan, nan), "There is one author only."
    if len(sizes) > 1:
        spread, freedom = spread_of(Clusters(events, np.array(list(sizes.values()), np.float64)))
        half = quantile(freedom, confidence) * sqrt(spread) / total
        if half > 0:
            bounds, doubt = (max(-1.0, value - half), min(1.0, value + half)), ""
    method = f"Student's t over authors, {confidence:.2%} for having looked at several"
    return figure(value, bounds, n=total, method=method, doubt=doubt)


def _leads(challenger: Trial, other: Trial, labels: Sequence[Example]) -> dict[str, int]:
    """Author → the challenger's lead in right labels, of those that both answered."""
    leads: dict[str, int] = defaultdict(int)
    mine, others = challenger.heard, other.heard
    for place in mine.keys() & others.keys():
        leads[author_of(labels[place])] += mine[place] - others[place]
    return dict(leads)


def _place(key: str, name: str) -> float:
    """The place of ``name`` in [0, 1), by keyed hash."""
    secret = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=32).digest()
    plain = name.encode("utf-8", "surrogatepass")
    digest = blake2b(plain, digest_size=8, key=secret, person=b"prompt search").digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53


#: The significance level of a search, over all instructions tried.
LEVEL = 0.05
#: The fewest kept-back labels. With eight challengers the winner must correct eight labels and
#: spoil none: one in five of forty, and few instructions do more.
LEAST_KEPT_BACK = 40
LEAST_AUTHORS = 20
#: The fewest labels to show to the model that writes instructions.
LEAST_SHOWN = 10
MOST_CANDIDATES, MOST_LABELS = 20, 400
#: The defaults of a search.
CANDIDATES, LABELS = 8, 120
#: Instructions per call; each call shows other messages.
AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """The plan and limits of a search.

    Args:
        instruct: the prompt of the role "instruct".
        predicting: how the feature is predicted, with the site's salt.
        present: the instruction in use; "" for none.
        candidates: instructions to ask for, 1 to 20.
        most_labels: the most kept-back labels, 40 to 400.
        examples: number of examples in each prediction, all of the shown side.
        tokens: of those examples together.

    Raises:
        InvalidInput: a number is out of bounds, or the present instruction has a fault.
    """

    instruct: Prompt
    predicting: PredictPlan
    present: str = ""
    candidates: int = CANDIDATES
    most_labels: int = LABELS
    examples: int = 4
    tokens: int = 800

    def __post_init__(self) -> None:
        if not 1 <= self.candidates <= MOST_CANDIDATES:
            raise InvalidInput.at("candidates", f"must be from 1 to {MOST_CANDIDATES}.")
        if not LEAST_KEPT_BACK <= self.most_labels <= MOST_LABELS:
            raise InvalidInput.at(
                "most_labels", f"must be from {LEAST_KEPT_BACK} to {MOST_LABELS}."
            )
        if self.present and (faults := instruction_faults(self.present)):
            raise InvalidInput.at("present", faults[0].detail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a search.

    Args:
        instruction: to use from now on; the present one if it stays. "" is none.
        kept: whether the present instruction stays.
        why: the reason as a code: "better", "not_better", "too_few_shown", "too_few_kept_back",
            "too_few_authors", "one_value", "no_candidate", "calls_failed".
        reason: the same in words.
        calls: number of calls made.
        labels: numbers of labels shown and kept back, and of authors.
        chance: p-value of the best one's lead; None without a test.
        level: the significance level: 0.05 over the number tried.
        figures: "present", "best" and "difference", each with n and interval or a reason.
        candidates: each tried one with its accuracy, the best first, then the refused ones.
    """

    instruction: str
    kept: bool
    why: str
    reason: str
    calls: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)
    chance: float | None = None
    level: float | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)
    candidates: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        mappings = {name: dict(found[name]) for name in ("labels", "figures")}
        return {
            **found,
            **mappings,
            "candidates": [dict(candidate) for candidate in self.candidates],
        }


def most_calls(candidates: int = CANDIDATES, labels: int = LABELS, *, present: bool) -> int:
    """The most calls of a search, for any labels and replies; ``present``: whether an instruction
    is in use, so that the empty one is tried as well."""
    challengers = candidates + (1 if present else 0)
    return ceil(candidates / AT_ONCE) + trial_calls(challengers, labels)


ROLE = "instruct"
#: Labelled messages in each call for instructions.
SHOWN_AT_ONCE = 12
#: So that lists differ.
_PARAMS = {"temperature": 1}


def instruct_calls(task: FeatureTask, plan: SearchPlan, shown: Sequence[Example]) -> list[Call]:
    """The calls for ``plan.candidates`` instructions in all; steps "instruct/<n>".

    ``shown``: labels of authors, one or more; each call shows others if there are enough.
    """
    numbers = range(ceil(plan.candidates / AT_ONCE))
    return [_instruct_call(task, plan, shown, number) for number in numbers]


def usable(
    replies: Iterable[Reply], plan: SearchPlan, shown: Sequence[Example]
) -> tuple[list[str], list[dict[str, Any]]]:
    """New instructions without faults, each once; and the faults of the refused ones.

    At most ``plan.candidates``. The refused words are not kept, because they may be harmful.
    """
    known = {instruction_key(plan.present)}
    texts = [label.text for label in shown]
    found: list[str] = []
    refused: list[dict[str, Any]] = []
    for text in (text for reply in replies if reply.ok for text in read_instructions(reply.text)):
        faults = instruction_faults(text, shown=texts, leaks=plan.predicting.leaks)
        if faults:
            refused.append({"source": "refused", "faults": [fault.code for fault in faults]})
        elif (key := instruction_key(text)) not in known:
            known.add(key)
            found.append(text)
    return found[: plan.candidates], refused


def _instruct_call(
    task: FeatureTask, plan: SearchPlan, shown: Sequence[Example], number: int
) -> Call:
    schema, salt = value_schema(task), plan.predicting.salt
    begin = number * SHOWN_AT_ONCE % len(shown)
    # In a ring, so that each call shows as many messages.
    part = [*shown[begin:], *shown[:begin]][:SHOWN_AT_ONCE]
    count = min(AT_ONCE, plan.candidates - number * AT_ONCE)
    return Call(
        step=f"{ROLE}/{number + 1}",
        role=ROLE,
        messages=plan.instruct.render(
            question=schema.question,
            labels=label_block(schema),
            present=fence(plan.present, salt) if plan.present else "",
            examples=[_label_block(label, task, salt) for label in part],
            count=count,
            characters=MOST_INSTRUCTION,
        ),
        prompt_hash=plan.instruct.hash,
        schema=schema,
        text=part[0].text,
        inputs={"count": count, "first": number * AT_ONCE},
        params=dict(_PARAMS),
        output=plan.instruct.output,
    )


def _label_block(label: Example, task: FeatureTask, salt: str) -> dict[str, str]:
    """A labelled message as the prompt shows it; free answers are strangers' words."""
    wrong = label.predicted and not same_answer(task, label.predicted, label.value)
    answer, guessed = (
        value if value in task.values or not value else fence(value, salt)
        for value in (label.value, label.predicted if wrong else "")
    )
    text = fence(shorten(label.text, MOST_TEXT_TOKENS), salt)
    return {"text": text, "answer": answer, "guessed": guessed}


__all__ = ["Found", "SearchPlan", "Searching", "search"]

#: With a larger share of failed calls nothing is decided.
_MOST_FAILED = 0.2
_OPTIMISTIC = "Selected as the best of several on these labels: a little too high."

#: Yields lists of calls, each asked in parallel; receives lists of replies; returns the result.
Searching: TypeAlias = Generator[list[Call], list[Reply], Found]
_LeaderSearch: TypeAlias = Generator[list[Call], list[Reply], Trial | None]


@dataclass(slots=True)
class _Search:
    """The state of a running search."""

    task: FeatureTask
    plan: SearchPlan
    split: Sides
    trials: list[Trial] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0

    def count_calls(self, calls: list[Call]) -> list[Call]:
        """``calls``, counted as made."""
        self.calls += len(calls)
        return calls


def search(task: FeatureTask, labelled: Sequence[Example], plan: SearchPlan) -> Searching:
    """Search for an instruction that predicts ``task`` better than the present one.

    ``labelled`` are labels of authors, one for each message, in any order. With too few of them no
    call is made. Steps of the calls: "instruct/<n>",
    "predict/<key>/<instruction>/<label>". Never raises for any reply.
    """
    known = [
        label
        for label in labelled
        if (label.value in task.values if task.values else label.value.strip())
        and label.text.strip()
    ]
    split = sides(known, f"{plan.predicting.salt}/{task.key}", plan.most_labels)
    run = _Search(task, plan, split)
    if missing := _too_few(split):
        return _keep_present(run, *missing)
    present = Trial(plan.present, "present")
    replies = yield run.count_calls(instruct_calls(task, plan, split.shown))
    proposed, run.refused = usable(replies, plan, split.shown)
    if not proposed:
        return _keep_present(run, "no_candidate", "The model proposed no usable instruction.")
    run.trials = [Trial(text, "proposed", number) for number, text in enumerate(proposed, 1)]
    if plan.present:
        run.trials.append(Trial("", "empty", len(proposed) + 1))
    leader = yield from _find_leader(run, present)
    if leader is None:
        return _keep_present(run, "calls_failed", "Too many calls failed to decide anything.")
    return _decide(run, present, leader)


def _too_few(split: Sides) -> tuple[str, str] | None:
    authors = len({author_of(label) for label in split.kept_back})
    if len(split.shown) < LEAST_SHOWN:
        return "too_few_shown", (
            f"{len(split.shown)} answers can be shown to a model that writes instructions; "
            f"{LEAST_SHOWN} are needed."
        )
    if len(split.kept_back) < LEAST_KEPT_BACK:
        return "too_few_kept_back", (
            f"{len(split.kept_back)} answers can be kept back to try instructions on; with fewer "
            f"than {LEAST_KEPT_BACK} no difference would be significant."
        )
    if authors < LEAST_AUTHORS:
        return "too_few_authors", (
            f"The answers kept back are of {authors} authors; with fewer than {LEAST_AUTHORS} "
            "a single one would weigh too much."
        )
    if len({label.value for label in split.shown}) < 2:
        return "one_value", "All answers that can be shown are the same."
    return None


def _find_leader(run: _Search, present: Trial) -> _LeaderSearch:
    """The best challenger after all stages; None if too many calls failed."""
    labels, index = run.split.kept_back, ExampleIndex(run.split.shown)
    plan, live, before = run.plan, list(run.trials), 0
    for end in stages_of(len(labels)):
        live = best(live, halve(len(live))) if before else live
        shown = [
            index.nearest(Wanted(label.text, plan.examples, plan.tokens))
            for label in labels[before:end]
        ]
        asked = [(trial, place) for trial in (present, *live) for place in range(before, end)]
        calls = [
            _trial_call(run, trial, labels[place], shown[place - before], f"{trial.number}/{place}")
            for trial, place in asked
        ]
        replies = yield run.count_calls(calls)
        for (trial, place), reply in zip(asked, replies, strict=True):
            trial.right[place] = _is_right(run, labels[place], reply)
        failed = sum(reply.status is Status.FAILED for reply in replies)
        if failed > _MOST_FAILED * len(replies):
            return None
        before = end
    return best(live, 1)[0]


def _trial_call(
    run: _Search, trial: Trial, label: Example, shown: Sequence[Example], name: str
) -> Call:
    """The call of a trial: the same as that of a real prediction."""
    return predict_call(
        run.task,
        MessageContext(label.text, label.context, label.conversation, label.author),
        run.plan.predicting,
        instruction=trial.instruction,
        examples=shown,
        step=f"predict/{run.task.key}/{name}",
    )


def _is_right(run: _Search, label: Example, reply: Reply) -> bool | None:
    """Whether the prediction is right; None if the call failed, which blames no instruction."""
    if reply.status is Status.FAILED:
        return None
    prediction = read_prediction(run.task, reply, run.plan.predicting.leaks)
    return not prediction.unusable and same_answer(run.task, prediction.value, label.value)


def _decide(run: _Search, present: Trial, leader: Trial) -> Found:
    labels, level = run.split.kept_back, LEVEL / len(run.trials)
    found = chance(leader, present, labels)
    better = found <= level
    figures = {
        "present": accuracy(present, labels),
        "best": accuracy(leader, labels, _OPTIMISTIC),
        "difference": difference(leader, present, labels, 1 - 2 * level),
    }
    outcome = f"p = {found:.2g}, with a significance level of {level:.2g} after correction"
    return Found(
        instruction=leader.instruction if better else present.instruction,
        kept=not better,
        why="better" if better else "not_better",
        reason=f"The best of {len(run.trials)} has {outcome}.",
        calls=run.calls,
        labels=_counts(run.split),
        chance=found,
        level=level,
        figures=figures,
        candidates=_candidates(run, present),
    )


def _keep_present(run: _Search, why: str, reason: str) -> Found:
    return Found(
        instruction=run.plan.present,
        kept=True,
        why=why,
        reason=reason,
        calls=run.calls,
        labels=_counts(run.split),
        candidates=_candidates(run, None),
    )


def _candidates(run: _Search, present: Trial | None) -> tuple[dict[str, Any], ...]:
    """All tried instructions, those of the last stage first, then the refused ones."""
    tried = [*run.trials, *([present] if present else [])]
    tried.sort(key=lambda trial: (-len(trial.right), -trial.score, trial.instruction))
    candidates = [
        {
            "instruction": trial.instruction,
            "source": trial.source,
            "accuracy": accuracy(trial, run.split.kept_back),
        }
        for trial in tried
    ]
    return (*candidates, *run.refused)


def _counts(split: Sides) -> dict[str, int]:
    return {
        "shown": len(split.shown),
        "kept_back": len(split.kept_back),
        "authors": len({author_of(label) for label in split.kept_back}),
    }
