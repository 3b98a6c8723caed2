"""Asking an author, as far as models are needed: from a message to the questions to show.

Stages (paper 004, sections 2.2, 3.1 and 3.4.1): which features the message gives reason to ask
about; the value of each that is most probable; whether that is enough; the questions. No I/O: like
a debate protocol, :func:`ask` yields lists of calls, each list answered in parallel, and hears the
replies. What is read from a model is checked, so that a message that gives orders can change
neither what is asked about, nor how many options there are, nor what they stand for.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from labelhub.core.interview.calls import (
    MOST_JUDGED,
    MOST_PREDICTED_WORDS,
    AuthorMessage,
    InterviewPlan,
    judged_first,
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

#: Features whose values are predicted for one message beyond those that are wanted: each is a call,
#: and some have no use.
SPARE = 1
#: How often a question is worded before the template is taken.
_TRIES = 2


@dataclass(frozen=True, slots=True)
class StageVerdict:
    """How one stage ended.

    Args:
        stage: "sensitive", "relevance", "prediction", "enough", "choice" or "questions".
        passed: whether the next stage was entered.
        reason: why so, as a code: "" where there is nothing to say, "danger"
            (:mod:`labelhub.core.safety`), a verdict of :mod:`.judgement`, "none_relevant",
            "no_prediction", "too_few", "not_worth_asking", "no_question", or how a call ended
            ("failed", "refused", "unparsed" …).
        data: JSON-ready detail.
    """

    stage: str
    passed: bool
    reason: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InterviewResult:
    """Result of an interview: questions, or the stage that dropped the message ("" with questions).

    ``chances``: by the feature's key, how likely it was to be asked about, of those that were.
    """

    drafts: tuple[Draft, ...]
    stages: tuple[StageVerdict, ...]
    dropped_at: str = ""
    chances: Mapping[str, float] = field(default_factory=dict)


#: Lists of calls out, each list asked in parallel; lists of replies in; what was asked in the end.
Interview: TypeAlias = Generator[list[Call], list[Reply], InterviewResult]
_Features: TypeAlias = Generator[list[Call], list[Reply], tuple[list[Feature], StageVerdict]]
_Values: TypeAlias = Generator[list[Call], list[Reply], tuple[dict[str, str], StageVerdict]]
_Drafts: TypeAlias = Generator[list[Call], list[Reply], tuple[tuple[Draft, ...], StageVerdict]]


@dataclass(slots=True)
class _QuestionAttempts:
    """One question while it is being worded: what each try was refused for, and what remained;
    ``ready``: its own question is taken unasked."""

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
    """The questions to put to the author of ``message``; never raises for any reply.

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
    chances = plan.choice.wanted(list(usable), plan.most_questions)
    if not chances:
        unworthy = _dropped("choice", "not_worth_asking", {"candidates": list(usable)})
        return InterviewResult((), (*stages, unworthy), unworthy.stage)
    wanted = [usable[key] for key in chances]
    drafts, worded = yield from _questions(message, plan, wanted, values)
    return InterviewResult(drafts, (*stages, worded), "" if drafts else worded.stage, chances)


def is_in_danger(message: AuthorMessage) -> bool:
    """Whether the message, or what was said before it, shows somebody in danger."""
    return shows_danger(message.text) or any(
        shows_danger(text) if role == "author" else reacts_to_danger(text)
        for role, text in message.context
    )


def _relevance(message: AuthorMessage, plan: InterviewPlan) -> _Features:
    """What the message is, and the relevant features, those most worth asking about first."""
    undecided = [feature for feature in plan.features if not feature.always]
    open_, left_out = _to_judge(message, plan, undecided)
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
    relevant = list(plan.choice.ranked(relevant))
    return relevant, StageVerdict("relevance", passed=True, data=data)


def _prediction(
    message: AuthorMessage, plan: InterviewPlan, relevant: Sequence[Feature]
) -> _Values:
    """The most probable value of each feature, by key; those without a usable one are left out."""
    calls = plan.choice.looked_at(relevant, max(plan.most_questions, plan.least_relevant) + SPARE)
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
    expected = plan.choice.expected(relevant, values, likely)
    values = _corrected(relevant, values, expected)
    left_out = [feature.key for feature in relevant if feature.key not in {**calls, **values}]
    data = {"predicted": values, "unusable": unusable, "left_out": left_out}
    reason = "" if values else "no_prediction"
    return values, StageVerdict("prediction", bool(values), reason, data)


def _corrected(
    relevant: Sequence[Feature], predicted: Mapping[str, str], expected: Mapping[str, str]
) -> dict[str, str]:
    """What is expected after all; of a closed feature only its values, of an open one only what
    the model said and was found fit to show."""
    values = {}
    for feature in relevant:
        value = expected.get(feature.key, "")
        if value in feature.values or (value and value == predicted.get(feature.key)):
            values[feature.key] = value
    return values


def _to_judge(
    message: AuthorMessage, plan: InterviewPlan, features: Sequence[Feature]
) -> tuple[list[Feature], list[Feature]]:
    """Of more features than one call is asked about, those that it is, and the others."""
    if plan.chooser is None or len(features) <= MOST_JUDGED:
        return judged_first(features, plan.asked, message.text)
    ranked = list(plan.chooser.ranked(features))
    return ranked[:MOST_JUDGED], ranked[MOST_JUDGED:]


def _questions(
    message: AuthorMessage,
    plan: InterviewPlan,
    wanted: Sequence[Feature],
    values: Mapping[str, str],
) -> _Drafts:
    """Each question as its feature has it, or worded by a model, once more where it has faults."""
    texts = [
        _QuestionAttempts(
            feature, values[feature.key], ready=_asks_itself(feature, message.language)
        )
        for feature in wanted
    ]
    for number in range(1, _TRIES + 1):
        unfinished = [text for text in texts if not (text.draft or text.failed or text.ready)]
        if not unfinished:
            break
        replies = yield [_question_turn(message, plan, writing, number) for writing in unfinished]
        for writing, reply in zip(unfinished, replies, strict=True):
            _take(writing, reply, message, plan)
    for writing in texts:
        if writing.draft is None:
            writing.draft = _from_template(writing, message, plan)
    drafts = tuple(text.draft for text in texts if text.draft is not None)
    data = {"questions": {text.feature.key: text.to_json() for text in texts}}
    reason = "" if drafts else "no_question"
    return drafts, StageVerdict("questions", bool(drafts), reason, data)


def _asks_itself(feature: Feature, language: str) -> bool:
    """Whether its own question is asked: a model that words another one for fixed answers can turn
    the meaning of them all round, and nobody could tell for certain."""
    return bool(feature.values) and feature.template(language) is not None


def _question_turn(
    message: AuthorMessage, plan: InterviewPlan, writing: _QuestionAttempts, number: int
) -> Call:
    problems = writing.refused[-1] if writing.refused else ()
    return question_turn(
        message,
        plan,
        writing.feature,
        predicted=writing.predicted,
        problems=problems,
        number=number,
    )


def _take(
    writing: _QuestionAttempts, reply: Reply, message: AuthorMessage, plan: InterviewPlan
) -> None:
    if not reply.ok:
        writing.failed = _failure(reply)
        return
    try:
        draft = read_draft(reply.text, writing.feature, writing.predicted, message.language)
    except Unreadable as problem:
        writing.refused.append((Fault("unreadable", problem.message),))
        return
    found = _faults(draft, writing.feature, message, plan)
    if found:
        writing.refused.append(found)
    else:
        writing.draft = draft


def _from_template(
    writing: _QuestionAttempts, message: AuthorMessage, plan: InterviewPlan
) -> Draft | None:
    draft = template_draft(writing.feature, writing.predicted, message.language)
    if draft is None:
        return None
    found = _faults(draft, writing.feature, message, plan)
    if found:
        writing.refused.append(found)
        return None
    return draft


def _faults(
    draft: Draft, feature: Feature, message: AuthorMessage, plan: InterviewPlan
) -> tuple[Fault, ...]:
    return faults(draft, message.text, feature, leaks=plan.leaks, detect=plan.detect)


def _unusable(feature: Feature, reply: Reply, plan: InterviewPlan) -> str:
    """Why a predicted value is of no use; "" where it is one of the feature's, or a few words."""
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
    """How a call ended that gave nothing."""
    return str(Status.UNPARSED if reply.ok else reply.status)
