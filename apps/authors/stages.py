"""The stages a message passes, and the reasons for which it does not, as people read them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

#: Names of one kind that a verdict lists.
MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class StageLabel:
    """A stage's name, and what it decides."""

    name: str
    decides: str


#: In the order in which a message meets them.
STAGES: Mapping[str, StageLabel] = MappingProxyType(
    {
        "screen": StageLabel(
            "Filter", "Too short, repeated, many links: left alone without a model."
        ),
        "redaction": StageLabel("Personal data", "Taken out before anything else reads it."),
        "sensitive": StageLabel("Sensitive topics", "Never asked about, never kept."),
        "interrupted": StageLabel("Moment", "A question is about now or not at all."),
        "budget": StageLabel("Budget", "What models may cost in a day."),
        "throttle": StageLabel("Not too often", "Pauses, caps and sampling of this site."),
        "model": StageLabel("Model", "Whether it could be reached at all."),
        "relevance": StageLabel(
            "Relevance", "What the message is, and what it gives reason to ask about."
        ),
        "prediction": StageLabel("Prediction", "The value that is most probable for each."),
        "enough": StageLabel("Enough to ask", "Whether enough features are left."),
        "choice": StageLabel("Worth asking", "Whether an answer would teach more than it costs."),
        "questions": StageLabel("Questions", "Worded, checked, reworded once, or from a template."),
        "left": StageLabel("Still there", "Who has opted out or left is not asked."),
    }
)
#: What these drop was never worth a question; the others drop what was.
NOT_WORTH_ASKING = frozenset({"screen", "sensitive", "relevance", "enough"})

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "empty": "nothing written",
        "smalltalk": "small talk",
        "spam": "looks like spam",
        "machine_like": "looks like a machine's",
        "too_short": "too short: it does not say what is wanted",
        "repeated": "said before",
        "overlong": "too long to be written by hand",
        "danger": "speaks of a danger or a death",
        "judged_danger": "somebody in danger, the model says",
        "judged_sensitive": "a sensitive topic, the model says",
        "judged_spam": "spam or noise, the model says",
        "unsure": "the model is unsure",
        "crisis_before": "somebody in danger shortly before",
        "opted_out": "does not want to be asked",
        "open_question": "a question is still open",
        "conversation_full": "asked enough in this conversation",
        "day_full": "asked enough today",
        "backing_off": "was sent away lately",
        "too_soon": "asked, or come, a moment ago",
        "not_judged": "a message shortly before that no model could judge",
        "too_few_messages": "too few messages yet, or since the last question",
        "not_sampled": "not in the sample",
        "none_relevant": "no feature matters here",
        "no_prediction": "no value could be predicted",
        "too_few": "too few features left",
        "not_worth_asking": "no answer would teach enough",
        "no_question": "no question passed the checks",
        "not_offered": "not one of its values",
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
    """The stage as people read it."""
    return STAGES[stage].name if stage in STAGES else stage.replace("_", " ").capitalize()


def reason_words(reason: str) -> str:
    """The reason as people read it; what is a sentence already stays."""
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
    kinds = (("always", "always"), ("relevant", "found relevant"), ("stated", "said already"))
    lines = [f"{words}: {_join(data[key])}" for key, words in kinds if data.get(key)]
    left = data.get("left_out") or ()
    if not left:
        return lines
    return [*lines, f"not looked at, so many are judged at once: {_first_few(left)}"]


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
        f"; refused before for {'; then '.join(refused)}" if refused else ""
    )


def _first_few(words: Any) -> str:
    """The first of many, and how many more there are."""
    rest = len(words) - MOST_NAMED
    return _join(words[:MOST_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _join(words: Any) -> str:
    return ", ".join(str(word).replace("_", " ") for word in words)


_DETAILS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "redaction": lambda data: (
        [f"{data['count']} taken out: {', '.join(data['found'])}"]
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
