"""The interview of an author: from a message, by calls of models, to the questions to show.

Stages (paper 004, sections 2.2, 3.1 and 3.4.1): the features that the message gives reason to ask
about; the most probable value of each; whether that is enough; the questions. No I/O: like a debate
protocol, :func:`ask` yields lists of calls, each answered in parallel, and receives the replies.
All replies are checked, so that orders in a message can change neither the features, nor the number
of options, nor their values.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from labelhub.core.interview.calls import (
    MOST_JUDGED,
    MOST_PREDICTED_WORDS,
    AuthorMessage,
    InterviewPlan,
    choose_judged,
    prediction_turn,
    question_turn,
    read_verdict,
    relevance_turn,
    stage_of,
    stated_name,
)
from labelhub.core.interview.features import Feature
from labelhub.core.interview.question_checks import LONGEST_OPTION, faults
from labelhub.core.interview.questions import (
    Draft,
    Fault,
    Unreadable,
    read_draft,
    template_draft,
)
from labelhub.core.interview.wording import bad_character, word_count
from labelhub.core.llm.types import Call, Reply, Status
from labelhub.core.safety import DANGER, reacts_to_danger, shows_danger

__all__ = ["SPARE", "AuthorMessage", "InterviewPlan", "StageVerdict", "ask"]

#: Features with a predicted value beyond the needed ones: each costs a call, and some are unusable.
SPARE = 1
#: How often a model words a question before the template is used.
_TRIES = 2


@dataclass(frozen=True, slots=True)
class StageVerdict:
    """The result of one stage.

    Args:
        stage: "sensitive", "relevance", "prediction", "enough", "choice" or "questions".
        passed: whether the next stage follows.
        reason: a code: "", "danger" (:mod:`labelhub.core.safety`), a verdict of :mod:`.calls`,
            "none_relevant", "no_prediction", "too_few", "not_worth_asking", "no_question", or the
            status of a call ("failed", "refused", "unparsed" …).
        data: JSON detail.
    """

    stage: str
    passed: bool
    reason: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InterviewResult:
    """The result of an interview: questions, or the stage that dropped the message.

    ``chances``: key of each feature asked about → the probability of that choice.
    """

    drafts: tuple[Draft, ...]
    stages: tuple[StageVerdict, ...]
    dropped_at: str = ""
    chances: Mapping[str, float] = field(default_factory=dict)


#: Yields lists of calls, each asked in parallel; receives lists of replies; returns the result.
Interview: TypeAlias = Generator[list[Call], list[Reply], InterviewResult]
_Features: TypeAlias = Generator[list[Call], list[Reply], tuple[list[Feature], StageVerdict]]
_Values: TypeAlias = Generator[list[Call], list[Reply], tuple[dict[str, str], StageVerdict]]
_Drafts: TypeAlias = Generator[list[Call], list[Reply], tuple[tuple[Draft, ...], StageVerdict]]


@dataclass(slots=True)
class _QuestionAttempts:
    """The attempts to word one question: the faults of each, and the accepted draft; ``ready``: the
    template is used without a model."""

    feature: Feature
    predicted: str
    draft: Draft | None = None
    ready: bool = False
    refused: list[tuple[Fault, ...]] = field(default_factory=list)
    failed: str = ""

    def to_json(self) -> dict[str, Any]:
        """What was tried, JSON-ready."""
        return {
            "predicted": self.predicted,
            "source": self.draft.source if self.draft else "",
            "failed": self.failed,
            "faults": [[fault.code for fault in faults_found] for faults_found in self.refused],
        }


def ask(message: AuthorMessage, plan: InterviewPlan) -> Interview:
    """The questions to the author of ``message``; never raises for any reply.

    Steps of the calls: "relevance", "prediction/<key>" (or the chooser's own), "question/<key>",
    "question/<key>/2".
    """
    if is_in_danger(message):
        return InterviewResult((), (_dropped("sensitive", DANGER, {}),), "sensitive")
    relevant, judged = yield from _relevance(message, plan)
    if not judged.passed:
        return InterviewResult((), (judged,), judged.stage)
    values, guessed = yield from _prediction(message, plan, relevant)
    enough = len(values) >= plan.least_relevant
    counted = StageVerdict(
        "enough",
        enough,
        "" if enough else "too_few",
        {"usable": len(values), "wanted": plan.least_relevant},
    )
    stages = (judged, guessed, counted)[: 3 if guessed.passed else 2]
    if not stages[-1].passed:
        return InterviewResult((), stages, stages[-1].stage)
    usable = {feature.key: feature for feature in relevant if feature.key in values}
    chances = plan.choice.choose(list(usable), plan.most_questions)
    if not chances:
        unworthy = _dropped("choice", "not_worth_asking", {"candidates": list(usable)})
        return InterviewResult((), (*stages, unworthy), unworthy.stage)
    wanted = [usable[key] for key in chances]
    drafts, worded = yield from _questions(message, plan, wanted, values)
    return InterviewResult(drafts, (*stages, worded), "" if drafts else worded.stage, chances)


def is_in_danger(message: AuthorMessage) -> bool:
    """Whether the message or those before it show somebody in danger."""
    return shows_danger(message.text) or any(
        shows_danger(text) if role == "author" else reacts_to_danger(text)
        for role, text in message.context
    )


def _relevance(message: AuthorMessage, plan: InterviewPlan) -> _Features:
    """Judge the message; the relevant features, the most valuable first."""
    undecided = [feature for feature in plan.features if not feature.always]
    if plan.chooser is None or len(undecided) <= MOST_JUDGED:
        open_, left_out = choose_judged(undecided, plan.asked, message.text)
    else:
        ranked = list(plan.chooser.rank(undecided))
        open_, left_out = ranked[:MOST_JUDGED], ranked[MOST_JUDGED:]
    always = [feature for feature in plan.features if feature.always]
    (reply,) = yield [relevance_turn(message, plan, open_, always[:MOST_JUDGED])]
    if not reply.ok or not isinstance(reply.value, list):
        return [], _dropped("relevance", _failure(reply), {"note": reply.note})
    verdict = read_verdict(reply.value)
    if verdict:
        return [], _dropped(stage_of(verdict), verdict, {})
    stated = [feature.key for feature in always if stated_name(feature) in reply.value]
    data = {
        "always": [feature.key for feature in always if feature.key not in stated],
        "relevant": [feature.key for feature in open_ if feature.key in reply.value],
    }
    keys = {*data["always"], *data["relevant"]}
    if stated:
        data["stated"] = stated
    if left_out:
        data["left_out"] = [feature.key for feature in left_out]
    if not keys:
        return [], _dropped("relevance", "none_relevant", data)
    relevant = [feature for feature in plan.features if feature.key in keys]
    relevant = list(plan.choice.rank(relevant))
    return relevant, StageVerdict("relevance", passed=True, data=data)


def _prediction(
    message: AuthorMessage, plan: InterviewPlan, relevant: Sequence[Feature]
) -> _Values:
    """Key → the most probable value of each feature with a usable one."""
    calls = plan.choice.calls_for(relevant, max(plan.most_questions, plan.least_relevant) + SPARE)
    asked = [feature for feature in relevant if feature.key in calls]
    replies = yield [
        calls[feature.key] or prediction_turn(message, plan, feature) for feature in asked
    ]
    values: dict[str, str] = {}
    likely: dict[str, Mapping[str, float]] = {}
    unusable: dict[str, str] = {}
    for feature, reply in zip(asked, replies, strict=True):
        problem = _unusable(feature, reply, plan)
        if problem:
            unusable[feature.key] = problem
        else:
            values[feature.key] = str(reply.value)
            likely[feature.key] = reply.probabilities
    expected = plan.choice.expected_values(relevant, values, likely)
    values = _usable_values(relevant, values, expected)
    left_out = [feature.key for feature in relevant if feature.key not in {**calls, **values}]
    data = {"predicted": values, "unusable": unusable, "left_out": left_out}
    reason = "" if values else "no_prediction"
    return values, StageVerdict("prediction", bool(values), reason, data)


def _usable_values(
    relevant: Sequence[Feature], predicted: Mapping[str, str], expected: Mapping[str, str]
) -> dict[str, str]:
    """The expected values: of a closed feature only its own, of an open one only the predicted one,
    which was checked."""
    values = {}
    for feature in relevant:
        value = expected.get(feature.key, "")
        if value in feature.values or (value and value == predicted.get(feature.key)):
            values[feature.key] = value
    return values


def _questions(
    message: AuthorMessage,
    plan: InterviewPlan,
    wanted: Sequence[Feature],
    values: Mapping[str, str],
) -> _Drafts:
    """Each question from its template or a model; with faults a model words it once more."""
    texts = [
        # A model could reverse the meaning of fixed answers, and nobody could tell for certain.
        _QuestionAttempts(
            feature,
            values[feature.key],
            ready=bool(feature.values) and feature.template(message.language) is not None,
        )
        for feature in wanted
    ]
    for number in range(1, _TRIES + 1):
        unfinished = [text for text in texts if not (text.draft or text.failed or text.ready)]
        if not unfinished:
            break
        replies = yield [
            question_turn(
                message,
                plan,
                writing.feature,
                predicted=writing.predicted,
                problems=writing.refused[-1] if writing.refused else (),
                number=number,
            )
            for writing in unfinished
        ]
        for writing, reply in zip(unfinished, replies, strict=True):
            _take_reply(writing, reply, message, plan)
    for writing in (text for text in texts if text.draft is None):
        ready = template_draft(writing.feature, writing.predicted, message.language)
        if ready is not None:
            _take_draft(writing, ready, message, plan)
    drafts = tuple(text.draft for text in texts if text.draft is not None)
    data = {"questions": {text.feature.key: text.to_json() for text in texts}}
    reason = "" if drafts else "no_question"
    return drafts, StageVerdict("questions", bool(drafts), reason, data)


def _take_reply(
    writing: _QuestionAttempts, reply: Reply, message: AuthorMessage, plan: InterviewPlan
) -> None:
    if not reply.ok:
        writing.failed = _failure(reply)
        return
    try:
        draft = read_draft(reply.text, writing.feature, writing.predicted, message.language)
    except Unreadable as problem:
        writing.refused.append((Fault("unreadable", problem.message),))
    else:
        _take_draft(writing, draft, message, plan)


def _take_draft(
    writing: _QuestionAttempts, draft: Draft, message: AuthorMessage, plan: InterviewPlan
) -> None:
    if found := faults(draft, message.text, writing.feature, leaks=plan.leaks):
        writing.refused.append(found)
    else:
        writing.draft = draft


def _unusable(feature: Feature, reply: Reply, plan: InterviewPlan) -> str:
    """Why a predicted value is unusable; "" if it is a value of the feature, or a few words."""
    value = reply.value
    if not reply.ok or not isinstance(value, str):
        return _failure(reply)
    if feature.values:
        return "" if value in feature.values else "not_offered"
    if word_count(value) > MOST_PREDICTED_WORDS or len(value) > LONGEST_OPTION:
        return "too_long"
    if bad_character(value) or plan.leaks(value):
        return "not_fit_to_show"
    return ""


def _dropped(stage: str, reason: str, data: Mapping[str, Any]) -> StageVerdict:
    return StageVerdict(stage, passed=False, reason=reason, data=data)


def _failure(reply: Reply) -> str:
    """The status of a call without a usable answer."""
    return str(Status.UNPARSED if reply.ok else reply.status)
