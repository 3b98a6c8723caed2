"""Calls that ask a language model to predict the features of a message.

Their prompts show the most similar messages with authors' answers about the feature, which each
process caches, and the instruction that a search has found.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from django.conf import settings
from django.db.models import QuerySet

from apps.authors.models import Answer, Message, Site
from apps.authors.querysets import counting_authors
from apps.authors.selectors.sites import FRESH
from apps.authors.services.message_lease import leak_detector, salt_of
from apps.echo.models import Echo
from apps.echo.selectors.predictions import predicted_value_of, value_of
from labelhub.core.echo.examples import Example, ExampleIndex, Wanted
from labelhub.core.echo.prediction import FeatureTask, MessageContext, PredictPlan, predict_call
from labelhub.core.interview.calls import definition_of, meanings_of, signs_of
from labelhub.core.interview.features import Feature
from labelhub.core.interview.pipeline import AuthorMessage
from labelhub.core.llm.types import Call
from labelhub.core.prompts import Prompt, PromptLibrary
from labelhub.core.safety import shows_danger

#: Maximum numbers of newest answers: read per site, and kept per feature.
MOST_OF_SITE, MOST_OF_FEATURE = 3_000, 500
#: Maximum number of sites whose examples a process caches.
MOST_SITES = 20
#: Columns for an example.
_COLUMNS = (
    "outcome", "value", "position", "author__uid", "question__options", "question__predicted",
    "question__feature__key", "question__message__text", "question__message__conversation_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _CachedExamples:
    """Feature and example by answer; index by feature, and the answers that each index has."""

    examples: Mapping[int, tuple[str, Example]] = field(default_factory=dict)
    indexes: Mapping[str, ExampleIndex] = field(default_factory=dict)
    made_of: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    looked_at: float = 0.0


_cached: dict[int, _CachedExamples] = {}


def indexes_of(site_id: int, doubted: Collection[str]) -> Mapping[str, ExampleIndex]:
    """The index of examples by feature, cached for up to ``FRESH`` seconds; at most two queries.

    Args:
        site_id: the site.
        doubted: authors whose answers are not used.
    """
    now, kept = time.monotonic(), _cached.get(site_id, _CachedExamples())
    if kept.looked_at and now - kept.looked_at < FRESH:
        return kept.indexes
    examples = _refresh_examples(site_id, kept.examples)
    made_of = _select_newest(examples, doubted)
    indexes = {
        key: kept.indexes[key]
        if kept.made_of.get(key) == answers
        else ExampleIndex(examples[answer][1] for answer in answers)
        for key, answers in made_of.items()
    }
    if len(_cached) > MOST_SITES:
        _cached.clear()
    _cached[site_id] = _CachedExamples(examples, indexes, made_of, now)
    return indexes


def standing_answers(site_id: int) -> "QuerySet[Answer]":
    """Answers that models may see: valid, in time, about stored texts, of authors who are believed
    and have not left."""
    return (
        Answer.objects.standing()
        .filter(
            counting_authors("author"),
            question__site=site_id,
            question__reask_of__isnull=True,
            author__opted_out_at__isnull=True,
            consent__withdrawn_at__isnull=True,
            excluded_at__isnull=True,
            outcome=Answer.Outcome.ANSWER,
            late=False,
        )
        .exclude(question__message__text="")
    )


def read_examples(answers: "QuerySet[Answer]") -> Iterable[tuple[int, str, Example]]:
    """For each answer its key, its feature's key and its example; in one query."""
    related = ("question__message", "question__feature", "author")
    for answer in answers.select_related(*related).only(*_COLUMNS):
        question, value = answer.question, value_of(answer)
        if value:
            example = Example(
                text=question.message.text,
                value=value,
                predicted=predicted_value_of(question),
                conversation=str(question.message.conversation_id),
                author=answer.author.uid.hex,
            )
            yield answer.pk, question.feature.key, example


def _refresh_examples(
    site_id: int, known: Mapping[int, tuple[str, Example]]
) -> Mapping[int, tuple[str, Example]]:
    """The valid examples, newest first; reads only those that are not ``known``."""
    newest = standing_answers(site_id).order_by("-pk")
    stand = list(newest.values_list("pk", flat=True)[:MOST_OF_SITE])
    new = [answer for answer in stand if answer not in known]
    read = {}
    if new:
        since = newest.filter(pk__gte=min(new))[:MOST_OF_SITE]
        read = {answer: (key, example) for answer, key, example in read_examples(since)}
    everything = {**known, **read}
    return {answer: everything[answer] for answer in stand if answer in everything}


def _select_newest(
    examples: Mapping[int, tuple[str, Example]], doubted: Collection[str]
) -> dict[str, tuple[int, ...]]:
    """The newest answers of each feature, up to :data:`MOST_OF_FEATURE`."""
    found: dict[str, list[int]] = defaultdict(list)
    for answer, (key, example) in examples.items():
        if len(found[key]) < MOST_OF_FEATURE and example.author not in doubted:
            found[key].append(answer)
    return {key: tuple(answers) for key, answers in found.items() if answers}


#: Maximum number of examples in a prompt.
MOST_EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class PredictionCalls:
    """The data for the calls about one message; making a call makes no query.

    Args:
        moment: the message.
        plan: how the site's features are predicted.
        indexes: the examples by feature.
        instructions: the instructions in use by feature.
        tokens: maximum tokens of the examples in a call.
    """

    moment: MessageContext
    plan: PredictPlan
    indexes: Mapping[str, ExampleIndex]
    instructions: Mapping[str, str]
    tokens: int

    def call(self, feature: Feature) -> Call:
        """The call that predicts the feature's value."""
        moment, index = self.moment, self.indexes.get(feature.key)
        wanted = Wanted(moment.text, MOST_EXAMPLES, self.tokens, moment.conversation, moment.author)
        return predict_call(
            task_of(feature),
            moment,
            self.plan,
            instruction=self.instructions.get(feature.key, ""),
            examples=[
                # Messages that older rules let through are not shown to a model.
                example
                for example in (index.nearest(wanted) if index is not None else ())
                if not shows_danger(example.text)
            ],
        )


def prediction_calls_for(
    message: Message,
    shown: AuthorMessage,
    echo: Echo,
    instructions: Mapping[str, str],
    doubted: Collection[str],
) -> PredictionCalls:
    """The data for predicting a message; answers of ``doubted`` authors are not used."""
    author = message.author
    return PredictionCalls(
        moment=MessageContext(
            shown.text, shown.context, str(message.conversation_id), author.uid.hex
        ),
        plan=predict_plan(author.site),
        indexes=indexes_of(author.site_id, doubted) if echo.example_tokens else {},
        instructions=instructions,
        tokens=echo.example_tokens,
    )


def predict_plan(site: Site) -> PredictPlan:
    """How a site's features are predicted."""
    return PredictPlan(
        prompt=prompt("predict"), salt=salt_of(site), leaks=leak_detector(site.region)
    )


@lru_cache(maxsize=10_000)
def task_of(feature: Feature) -> FeatureTask:
    """The feature as models see it."""
    return FeatureTask(
        key=feature.key,
        name=feature.name,
        definition=definition_of(feature),
        values=feature.values,
        meanings=meanings_of(feature),
        signs=signs_of(feature),
    )


@lru_cache(maxsize=2)
def prompt(role: str) -> Prompt:
    """The prompt of a role: "predict" or "instruct"."""
    return PromptLibrary(settings.PROMPTS_DIR).get("echo", role)
