"""Names of the stages that a message passes, and of the reasons why it is dropped."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

#: Most names that a detail lists.
MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class StageLabel:
    """A stage's name and what it decides."""

    name: str
    decides: str


#: In the order in which a message meets them.
STAGES: Mapping[str, StageLabel] = MappingProxyType(
    {
        "screen": StageLabel(
            "Filter", "Drops short or repeated texts and many links, without a model."
        ),
        "redaction": StageLabel("Personal data", "Removed before anything else reads the text."),
        "sensitive": StageLabel("Sensitive topics", "Never asked about, never kept."),
        "interrupted": StageLabel("Moment", "A question that comes too late is not asked."),
        "budget": StageLabel("Budget", "What models may cost per day."),
        "throttle": StageLabel("Not too often", "Pauses, limits and sampling of this site."),
        "model": StageLabel("Model", "Whether the model could be reached."),
        "relevance": StageLabel(
            "Relevance", "The kind of message, and the features that matter to it."
        ),
        "prediction": StageLabel("Prediction", "The most probable value of each feature."),
        "enough": StageLabel("Enough to ask", "Whether enough features are left."),
        "choice": StageLabel("Worth asking", "Whether an answer would teach more than it costs."),
        "questions": StageLabel(
            "Questions", "Worded by a model and checked, or taken from a template."
        ),
        "left": StageLabel("Still there", "Authors who opted out or left are not asked."),
    }
)
#: Messages dropped by these stages were not worth a question; those dropped by others were.
NOT_WORTH_ASKING = frozenset({"screen", "sensitive", "relevance", "enough"})

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "nothing written",
        "smalltalk": "small talk",
        "spam": "looks like spam",
        "machine_like": "looks machine-written",
        "too_short": "too short: it does not say what the author wants",
        "repeated": "said before",
        "overlong": "too long to be typed by a person",
        "danger": "mentions a danger or a death",
        "judged_danger": "the model says: somebody is in danger",
        "judged_sensitive": "the model says: a sensitive topic",
        "judged_spam": "the model says: spam or noise",
        "unsure": "the model is unsure",
        "crisis_before": "an earlier message mentioned a danger",
        "opted_out": "the author opted out",
        "open_question": "a question is still open",
        "conversation_full": "the limit of this conversation is reached",
        "day_full": "the limit of today is reached",
        "backing_off": "the author dismissed the last questions",
        "too_soon": "too soon after the last question or the author's arrival",
        "not_judged": "no model could judge a message shortly before",
        "too_few_messages": "too few messages since the last question or the author's arrival",
        "not_sampled": "not in the sample",
        "none_relevant": "no feature is relevant",
        "no_prediction": "no value could be predicted",
        "too_few": "too few features left",
        "not_worth_asking": "an answer would cost more than it teaches",
        "no_question": "no question passed the checks",
        "not_offered": "not one of the feature's values",
        "too_long": "too long to offer",
        "not_fit_to_show": "not fit to show",
        "failed": "the model could not be reached",
        "refused": "the model refused",
        "unparsed": "the model's answer could not be read",
    }
)


@dataclass(frozen=True, slots=True)
class StageRow:
    """One verdict, ready to show: ``mark`` is "passed" or "dropped"."""

    stage: str
    name: str
    decides: str
    mark: str
    reason: str
    details: tuple[str, ...] = ()


def stage_name(stage: str) -> str:
    """The name of a stage for people."""
    return STAGES[stage].name if stage in STAGES else stage.replace("_", " ").capitalize()


def reason_words(reason: str) -> str:
    """The reason in words; a reason that is already a sentence is unchanged."""
    return REASONS.get(reason, reason)


def stage_rows(stages: list[dict[str, Any]]) -> list[StageRow]:
    """The stored verdicts of a message, ready to show."""
    return [_stage_row(stage) for stage in stages]


def _stage_row(stored: Mapping[str, Any]) -> StageRow:
    stage, data = str(stored.get("stage", "")), stored.get("data") or {}
    known = STAGES.get(stage)
    return StageRow(
        stage=stage,
        name=stage_name(stage),
        decides=known.decides if known else "",
        mark="passed" if stored.get("passed") else "dropped",
        reason=reason_words(str(stored.get("reason") or "")),
        details=tuple(_DETAILS[stage](data)) if stage in _DETAILS else (),
    )


def _relevance(data: Mapping[str, Any]) -> list[str]:
    kinds = (
        ("always", "always"),
        ("relevant", "found relevant"),
        ("stated", "stated in the message"),
    )
    lines = [f"{words}: {_join(data[key])}" for key, words in kinds if data.get(key)]
    left = data.get("left_out") or ()
    if not left:
        return lines
    return [*lines, f"left out, over the limit of one call: {_first_few(left)}"]


def _prediction(data: Mapping[str, Any]) -> list[str]:
    lines = [f"{key} = {value}" for key, value in (data.get("predicted") or {}).items()]
    unusable = data.get("unusable") or {}
    lines += [f"{key}: {reason_words(str(why))}" for key, why in unusable.items()]
    return lines + ([f"left out: {_first_few(data['left_out'])}"] if data.get("left_out") else [])


def _question_words(key: str, outcome: Mapping[str, Any]) -> str:
    source = {"model": "worded by the model", "template": "from its template"}
    words = source.get(str(outcome.get("source")), "dropped")
    if outcome.get("failed"):
        words += f" ({reason_words(str(outcome['failed']))})"
    refused = [_join(fault) for fault in outcome.get("faults") or () if fault]
    return f"{key}: {words}" + (
        f"; earlier wording refused for {'; then '.join(refused)}" if refused else ""
    )


def _first_few(words: Any) -> str:
    """The first names, and how many more there are."""
    rest = len(words) - MOST_NAMED
    return _join(words[:MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _join(words: Any) -> str:
    return ", ".join(str(word).replace("_", " ") for word in words)


_DETAILS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "redaction": lambda data: (
        [f"{data['count']} removed: {', '.join(data['found'])}"]
        if data.get("found")
        else ["nothing found"]
    ),
    "relevance": _relevance,
    "prediction": _prediction,
    "enough": lambda data: (
        [f"{data['usable']} usable, {data['wanted']} wanted"] if "usable" in data else []
    ),
    "questions": lambda data: [
        _question_words(key, outcome) for key, outcome in (data.get("questions") or {}).items()
    ],
}
