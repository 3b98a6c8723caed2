"""Names of the stages that a message passes, and of the reasons why it is dropped."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.common.figures import count_words

#: Most names that a detail lists.
MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class StageLabel:
    """A stage's name and what it decides."""

    name: StrOrPromise
    decides: StrOrPromise


#: In the order in which a message meets them.
STAGES: Mapping[str, StageLabel] = {
    "screen": StageLabel(
        _("Filter"), _("Drops short or repeated texts and many links, without a model.")
    ),
    "redaction": StageLabel(_("Personal data"), _("Removed before anything else reads the text.")),
    "sensitive": StageLabel(_("Sensitive topics"), _("Never asked about, never kept.")),
    "interrupted": StageLabel(_("Moment"), _("A question that comes too late is not asked.")),
    "budget": StageLabel(_("Budget"), _("What models may cost per day.")),
    "throttle": StageLabel(_("Not too often"), _("Pauses, limits and sampling of this site.")),
    "model": StageLabel(_("Model"), _("Whether the model could be reached.")),
    "relevance": StageLabel(
        _("Relevance"), _("The kind of message, and the features that matter to it.")
    ),
    "prediction": StageLabel(_("Prediction"), _("The most probable value of each feature.")),
    "enough": StageLabel(_("Enough to ask"), _("Whether enough features are left.")),
    "choice": StageLabel(_("Worth asking"), _("Whether an answer would teach more than it costs.")),
    "questions": StageLabel(
        _("Questions"), _("Worded by a model and checked, or taken from a template.")
    ),
    "left": StageLabel(_("Still there"), _("Authors who opted out or left are not asked.")),
}
#: Messages dropped by these stages were not worth a question; those dropped by others were.
NOT_WORTH_ASKING = frozenset({"screen", "sensitive", "relevance", "enough"})

REASONS: Mapping[str, StrOrPromise] = {
    "empty": _("nothing written"),
    "smalltalk": _("small talk"),
    "spam": _("looks like spam"),
    "machine_like": _("looks machine-written"),
    "too_short": _("too short: it does not say what the author wants"),
    "repeated": _("said before"),
    "overlong": _("too long to be typed by a person"),
    "danger": _("mentions a danger or a death"),
    "judged_danger": _("the model says: somebody is in danger"),
    "judged_sensitive": _("the model says: a sensitive topic"),
    "judged_spam": _("the model says: spam or noise"),
    "unsure": _("the model is unsure"),
    "crisis_before": _("an earlier message mentioned a danger"),
    "opted_out": _("the author opted out"),
    "open_question": _("a question is still open"),
    "conversation_full": _("the limit of this conversation is reached"),
    "day_full": _("the limit of today is reached"),
    "backing_off": _("the author dismissed the last questions"),
    "too_soon": _("too soon after the last question or the author's arrival"),
    "not_judged": _("no model could judge a message shortly before"),
    "too_few_messages": _("too few messages since the last question or the author's arrival"),
    "not_sampled": _("not in the sample"),
    "none_relevant": _("no feature is relevant"),
    "no_prediction": _("no value could be predicted"),
    "too_few": _("too few features left"),
    "not_worth_asking": _("an answer would cost more than it teaches"),
    "no_question": _("no question passed the checks"),
    "not_offered": _("not one of the feature's values"),
    "too_long": _("too long to offer"),
    "not_fit_to_show": _("not fit to show"),
    "failed": _("the model could not be reached"),
    "refused": _("the model refused"),
    "unparsed": _("the model's answer could not be read"),
}


@dataclass(frozen=True, slots=True)
class StageRow:
    """One verdict, ready to show: ``mark`` is "passed" or "dropped"."""

    stage: str
    name: StrOrPromise
    decides: StrOrPromise
    mark: str
    reason: str
    details: tuple[str, ...] = ()


def stage_name(stage: str) -> StrOrPromise:
    return STAGES[stage].name if stage in STAGES else stage.replace("_", " ").capitalize()


def reason_words(reason: str) -> str:
    """The reason in words; a reason that is already a sentence is unchanged."""
    return str(REASONS.get(reason, reason))


def stage_row(stored: Mapping[str, Any]) -> StageRow:
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
        ("always", gettext("always")),
        ("relevant", gettext("found relevant")),
        ("stated", gettext("stated in the message")),
    )
    lines = [f"{words}: {_join(data[key])}" for key, words in kinds if data.get(key)]
    left = data.get("left_out") or ()
    if not left:
        return lines
    return [
        *lines,
        gettext("left out, over the limit of one call: %(names)s") % {"names": _first_few(left)},
    ]


def _prediction(data: Mapping[str, Any]) -> list[str]:
    lines = [f"{key} = {value}" for key, value in (data.get("predicted") or {}).items()]
    unusable = data.get("unusable") or {}
    lines += [f"{key}: {reason_words(str(why))}" for key, why in unusable.items()]
    if left := data.get("left_out"):
        lines.append(gettext("left out: %(names)s") % {"names": _first_few(left)})
    return lines


def _question_words(key: str, outcome: Mapping[str, Any]) -> str:
    source = {"model": gettext("worded by the model"), "template": gettext("from its template")}
    words = source.get(str(outcome.get("source")), gettext("dropped"))
    if outcome.get("failed"):
        words += f" ({reason_words(str(outcome['failed']))})"
    refused = [_join(fault) for fault in outcome.get("faults") or () if fault]
    if refused:
        earlier = gettext("earlier wording refused for %(faults)s") % {"faults": "; ".join(refused)}
        words += f"; {earlier}"
    return f"{key}: {words}"


def _first_few(words: Any) -> str:
    rest = len(words) - MOST_NAMED
    named = _join(words[:MOST_NAMED])
    if rest <= 0:
        return named
    return gettext("%(names)s and %(rest)s more") % {"names": named, "rest": count_words(rest)}


def _join(words: Any) -> str:
    return ", ".join(str(word).replace("_", " ") for word in words)


_DETAILS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "redaction": lambda data: (
        [
            gettext("%(count)s removed: %(found)s")
            % {"count": data["count"], "found": ", ".join(data["found"])}
        ]
        if data.get("found")
        else [gettext("nothing found")]
    ),
    "relevance": _relevance,
    "prediction": _prediction,
    "enough": lambda data: (
        [gettext("%(usable)s usable, %(wanted)s wanted") % data] if "usable" in data else []
    ),
    "questions": lambda data: [
        _question_words(key, outcome) for key, outcome in (data.get("questions") or {}).items()
    ],
}
