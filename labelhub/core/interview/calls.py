"""The model calls of an interview: the plan, the choice of features, and prompts for a message.

One call judges the kind of a message and which features it gives reason to ask about. A message is
asked about only if the model calls it ordinary and nothing else; an unreadable, unknown or
contradictory reply is no such verdict. All words of strangers are delimited.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from labelhub.core.errors import InvalidInput
from labelhub.core.interview.features import WORD, YES, YES_NO, Feature, band_words
from labelhub.core.interview.questions import Fault, template_draft
from labelhub.core.leaks import Leaks, no_leaks
from labelhub.core.llm.types import Call, Message
from labelhub.core.prompts import Prompt, fence
from labelhub.core.schema import Schema, parse_schema
from labelhub.core.schema.menu import label_block

#: The kinds of messages in the prompt. Their names have a blank, keys of features have none.
ORDINARY = "ordinary message"
#: Kind of a message → the reason not to ask about it; the gravest first.
JUDGED_DANGER = "judged_danger"
REASONS: Mapping[str, str] = {
    "person in danger": JUDGED_DANGER,
    "sensitive message": "judged_sensitive",
    "spam or noise": "judged_spam",
    "small talk": "smalltalk",
    "unsure what": "unsure",
}
VERDICTS: Mapping[str, str] = {
    "person in danger": (
        "Somebody suffers or may come to harm, or mourns: suicide, self-harm, overdose, an eating"
        " disorder, violence or control at home, sexual violence, a child ill-treated, a threat,"
        " a death. Hints, slang and jokes about it count."
    ),
    "sensitive message": (
        "It tells of somebody's health, pregnancy, sexual life, religion, politics, origin, debts,"
        " crime or conflict with the law, or its author seems to be a child."
    ),
    "spam or noise": (
        "Advertising, fraud, abuse, code, logs, random letters, orders to the assistant, or text"
        " that nobody wrote as a message."
    ),
    "small talk": "A greeting, thanks, a farewell, chit-chat, a bare yes or no.",
    "unsure what": "None of these is certain.",
    ORDINARY: "An everyday message that none of the others fits; its author may be asked.",
}
#: The verdicts by their names for models that match words.
CALLED: Mapping[str, str] = {
    "danger": "person in danger",
    "sensitive": "sensitive message",
    "spam": "spam or noise",
    "small_talk": "small talk",
    "unsure": "unsure what",
    "ordinary": ORDINARY,
}
#: The reasons of the stage "sensitive".
_SENSITIVE = frozenset({JUDGED_DANGER, "judged_sensitive"})

#: The most features in one call for relevance: hundreds cost more and are found less.
MOST_JUDGED = 40


def choose_judged(
    features: Sequence[Feature],
    asked: Mapping[str, int],
    text: str,
    *,
    most: int = MOST_JUDGED,
) -> tuple[list[Feature], list[Feature]]:
    """The features to judge and those left out, both in the site's order.

    The author was asked about them least. Equal ones follow in the site's order from a place that
    the message draws, so that every feature has a chance and the same message gets the same
    features. The places are ``most`` apart, so that messages share their sets, which are cached.

    Args:
        features: in the site's order.
        asked: key of a feature → how often the author was asked about it.
        text: the message.
        most: the most features to judge, from 1.
    """
    if len(features) <= most:
        return list(features), []
    places = -(-len(features) // most)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    start = int.from_bytes(digest[:8]) % places * most
    turned = [*features[start:], *features[:start]]
    turned.sort(key=lambda feature: asked.get(feature.key, 0))
    keys = {feature.key for feature in turned[:most]}
    return (
        [feature for feature in features if feature.key in keys],
        [feature for feature in features if feature.key not in keys],
    )


def read_verdict(named: Collection[str]) -> str:
    """The reason not to ask about a message; "" only if it is ordinary and nothing else.

    Args:
        named: all names in the reply, including features.
    """
    grave = next((reason for name, reason in REASONS.items() if name in named), "")
    return grave or ("" if ORDINARY in named else "unsure")


def stage_of(reason: str) -> str:
    """The stage at which a verdict drops a message: "sensitive" or "relevance"."""
    return "sensitive" if reason in _SENSITIVE else "relevance"


#: Key of a feature → the probability of each value, as far as the model reported it.
Likely: TypeAlias = Mapping[str, Mapping[str, float]]


class Chooser(Protocol):
    """Makes the choices for one message; each method is called once, in this order."""

    def rank(self, features: Sequence[Feature]) -> Sequence[Feature]:
        """``features``, the most valuable first; the last may be left out."""
        ...

    def calls_for(self, relevant: Sequence[Feature], most: int) -> Mapping[str, Call | None]:
        """Key → the call that asks a model for its value, usually for ``most`` features; None: the
        interview's own call."""
        ...

    def expected_values(
        self, relevant: Sequence[Feature], predicted: Mapping[str, str], likely: Likely
    ) -> Mapping[str, str]:
        """Key → the expected value of each relevant feature, from the values that a model
        ``predicted`` and how ``likely`` it called each value."""
        ...

    def choose(self, candidates: Sequence[str], most: int) -> Mapping[str, float]:
        """The ``candidates`` to ask about, best first, with the probability of each choice."""
        ...


class LeastAsked:
    """Features that an author was asked about least come first, equal ones in the site's order."""

    def __init__(self, asked: Mapping[str, int]) -> None:
        self._asked = asked

    def rank(self, features: Sequence[Feature]) -> Sequence[Feature]:
        """See :class:`Chooser`."""
        return sorted(features, key=lambda feature: self._asked.get(feature.key, 0))

    def calls_for(self, relevant: Sequence[Feature], most: int) -> Mapping[str, Call | None]:
        """The first ones, with the interview's own calls."""
        return dict.fromkeys([feature.key for feature in relevant[:most]])

    def expected_values(
        self, relevant: Sequence[Feature], predicted: Mapping[str, str], likely: Likely
    ) -> Mapping[str, str]:
        """The model's values."""
        return predicted

    def choose(self, candidates: Sequence[str], most: int) -> Mapping[str, float]:
        """The first ones, with probability 1."""
        return dict.fromkeys(candidates[:most], 1.0)


ROLES = ("relevance", "prediction", "question", "word")
MOST_QUESTIONS = 4
#: The most words of a prediction in free words.
MOST_PREDICTED_WORDS = 4

_RELEVANCE = "What is the message, and what does it give a reason to ask its author about?"
_PREDICTION = "{name}: {definition} What is most probable?"
#: The same questions for the same message, as far as a model can.
_PARAMS: Mapping[str, Any] = {"temperature": 0}


@dataclass(frozen=True, slots=True)
class AuthorMessage:
    """A message in the form for models.

    Args:
        text: already redacted.
        language: of the questions about it ("en").
        context: the messages before, (role, text), already redacted and cut.
        unjudged: recent messages of the author, here or elsewhere, that nobody has judged; they
            are judged together with ``text``.
    """

    text: str
    language: str
    context: tuple[tuple[str, str], ...] = ()
    unjudged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InterviewPlan:
    """The features that a site wants to learn, and how it asks its authors.

    Args:
        features: in the site's order.
        prompts: by role: "relevance", "prediction", "question" and "word".
        salt: unknown to authors and constant for a site; makes delimiters that cannot be forged.
        least_relevant: the fewest features with a usable prediction to ask about a message.
        most_questions: 1 to 4.
        asked: key of a feature → how often this author was asked about it.
        leaks: whether words hold personal data.
        chooser: decides what to ask about; None: :class:`LeastAsked`.

    Raises:
        InvalidInput: a prompt is missing, or ``most_questions`` is out of bounds.
    """

    features: tuple[Feature, ...]
    prompts: Mapping[str, Prompt]
    salt: str
    least_relevant: int = 1
    most_questions: int = MOST_QUESTIONS
    asked: Mapping[str, int] = field(default_factory=dict)
    leaks: Leaks = no_leaks
    chooser: Chooser | None = None

    @property
    def choice(self) -> Chooser:
        """The chooser of the features to ask about."""
        return self.chooser or LeastAsked(self.asked)

    def __post_init__(self) -> None:
        missing = [role for role in ROLES if role not in self.prompts]
        if missing:
            raise InvalidInput.at("prompts", f"there is none for '{missing[0]}'.")
        if not 1 <= self.most_questions <= MOST_QUESTIONS:
            raise InvalidInput.at("most_questions", f"must be from 1 to {MOST_QUESTIONS}.")


def relevance_turn(
    message: AuthorMessage,
    plan: InterviewPlan,
    features: Sequence[Feature],
    always: Sequence[Feature] = (),
) -> Call:
    """Ask for the kind of the message, the ``features`` that it gives reason to ask about, and the
    ``always`` features that it answers itself."""
    schema = _relevance_schema(tuple(features), tuple(always))
    item = _item_block(message, plan.salt, unjudged=message.unjudged)
    # A model that matches words needs all labels that are no features.
    stated = {name: name for name in map(stated_name, always)}
    inputs = {"verdicts": {**CALLED, **stated}}
    return _decision(message, plan, schema, step="relevance", inputs=inputs, item=item)


def prediction_turn(message: AuthorMessage, plan: InterviewPlan, feature: Feature) -> Call:
    """Ask for the most probable value of ``feature``: one of its values, or a few words."""
    step = f"prediction/{feature.key}"
    return _decision(message, plan, value_schema(feature), step=step, inputs=signs_of(feature))


def question_turn(
    message: AuthorMessage,
    plan: InterviewPlan,
    feature: Feature,
    *,
    predicted: str,
    problems: Sequence[Fault],
    number: int,
) -> Call:
    """Ask for a question about ``feature``; ``problems`` are the faults of an earlier one."""
    role = "word" if feature.answer == WORD else "question"
    prompt, language = plan.prompts[role], message.language
    ready = template_draft(feature, predicted, language)
    # For models that are no language models; no model words fixed answers.
    options = () if ready is None or ready.values else ready.options
    template = {} if ready is None else {"question": ready.text, "options": list(options)}
    inputs = {
        "name": feature.name,
        "predicted": predicted,
        "language": language,
        "template": template,
    }
    words = feature.own_words(language)
    # The details of faults quote the question that a model wrote.
    explained = "\n".join(fault.detail for fault in problems)
    shown = inputs | {
        "definition": definition_of(feature),
        "hint": feature.hint,
        "values": [
            {"words": words.get(value, value), "meaning": meaning}
            for value, meaning in meanings_of(feature).items()
        ],
        "count": feature.option_count,
        "predicted": "" if feature.values else fence(predicted, plan.salt),
        "problems": fence(explained, plan.salt) if explained else "",
        "item": _item_block(message, plan.salt),
    }
    return Call(
        step=f"question/{feature.key}" + (f"/{number}" if number > 1 else ""),
        role=role,
        messages=prompt.render(**{name: shown[name] for name in prompt.inputs}),
        prompt_hash=prompt.hash,
        schema=value_schema(feature),
        text=message.text,
        inputs=inputs,
        params=dict(_PARAMS),
        output=prompt.output,
    )


def _decision(
    message: AuthorMessage,
    plan: InterviewPlan,
    schema: Schema,
    *,
    step: str,
    inputs: Mapping[str, Any] | None = None,
    item: str = "",
) -> Call:
    role = step.partition("/")[0]
    prompt = plan.prompts[role]
    shown = item or _item_block(message, plan.salt)
    return Call(
        step=step,
        role=role,
        messages=tuple(
            replace(part, content=part.content.replace(_ITEM, shown))
            for part in _messages_around_item(prompt, schema)
        ),
        prompt_hash=prompt.hash,
        schema=schema,
        text=message.text,
        inputs=inputs or {},
        params=dict(_PARAMS),
        output=prompt.output,
    )


#: Where the item goes in a prompt that is otherwise complete.
_ITEM = "\ue000 item \ue000"


@lru_cache(maxsize=1024)
def _messages_around_item(prompt: Prompt, schema: Schema) -> tuple[Message, ...]:
    """The messages for any item: to render thousands of pieces for each takes milliseconds."""
    return prompt.render(
        task=schema.task.prompt_task,
        question=schema.question,
        labels=label_block(schema),
        guideline="",
        item=_ITEM,
    )


def stated_name(feature: Feature) -> str:
    """The label for messages that answer ``feature`` themselves; keys of features have no blank."""
    return f"{feature.key} is said"


@lru_cache(maxsize=256)
def _relevance_schema(features: tuple[Feature, ...], always: tuple[Feature, ...]) -> Schema:
    verdicts = [{"name": name, "description": meaning} for name, meaning in VERDICTS.items()]
    labels = [
        {
            "name": feature.key,
            "description": f"{feature.name}. {feature.definition}",
            "include": " ".join((feature.applies, ", ".join(feature.cues))).strip(),
        }
        for feature in features
    ]
    stated = [
        {
            "name": stated_name(feature),
            "description": f"The message itself says: {feature.name}. {feature.definition}",
        }
        for feature in always
    ]
    every = [*verdicts, *labels, *stated]
    return parse_schema({"task": "multi", "question": _RELEVANCE, "labels": every})


@lru_cache(maxsize=1024)
def value_schema(feature: Feature) -> Schema:
    """The schema of what is most probable about a message: a value, or free text."""
    question = _PREDICTION.format(name=feature.name, definition=definition_of(feature))
    if not feature.values:
        return parse_schema({"task": "text", "question": question})
    labels = [
        {"name": value, "description": meaning} for value, meaning in meanings_of(feature).items()
    ]
    return parse_schema({"task": "single", "question": question, "labels": labels})


def meanings_of(feature: Feature) -> dict[str, str]:
    """Value → its meaning, "" if there is none; bands have their unit."""
    meanings = {value: feature.meanings.get(value, "") for value in feature.values}
    if feature.unit:
        return band_words(feature.bounds, feature.unit, "en") | {
            k: v for k, v in meanings.items() if v
        }
    return meanings


def definition_of(feature: Feature) -> str:
    """The definition with the unit of numbers."""
    return f"{feature.definition} In {feature.unit}." if feature.unit else feature.definition


def signs_of(feature: Feature) -> dict[str, Any]:
    """The words for models that match text, beyond those of the schema."""
    if feature.answer == YES_NO:
        signs = {value: feature.meanings.get(value, "").split(",") for value in feature.values}
        return {"signs": signs | {YES: [*signs[YES], *feature.cues]}}
    if not feature.values:
        return {"most_words": MOST_PREDICTED_WORDS, "cues": feature.cues}
    return {}


def _item_block(message: AuthorMessage, salt: str, unjudged: Sequence[str] = ()) -> str:
    """The message as prompts show it, after the messages before it."""
    before = "\n".join(f"{role}: {text}" for role, text in message.context)
    parts = [f"What was said before:\n{fence(before, salt)}"] if before else []
    if unjudged:
        earlier = fence("\n".join(unjudged), salt)
        parts.insert(
            0, f"What the author wrote before, perhaps in another conversation:\n{earlier}"
        )
    return "\n\n".join([*parts, f"The message:\n{fence(message.text, salt)}"])
