"""Calls that ask a language model to predict the features of a message.

Their prompts show the most similar messages with authors' answers about the feature, which each
process caches.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from django.conf import settings

from apps.authors.models import Answer, Message
from apps.authors.querysets import counting_authors
from apps.authors.selectors.sites import FRESH
from apps.authors.services.message_lease import salt_of
from apps.echo.models import Echo
from apps.echo.selectors.predictions import value_of
from labelhub.core.echo.prediction import Example, ExampleIndex, MessageContext, predict_call
from labelhub.core.interview.calls import signs_of, value_schema
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
    "outcome", "value", "position", "author__uid", "question__options",
    "question__feature__key", "question__message__text", "question__message__conversation_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _CachedExamples:
    """Feature and example by answer; by feature the answers of its index, and the index."""

    examples: Mapping[int, tuple[str, Example]] = field(default_factory=dict)
    indexes: Mapping[str, tuple[list[int], ExampleIndex]] = field(default_factory=dict)
    read_at: float = -FRESH


_cached: dict[int, _CachedExamples] = {}


def indexes_of(site_id: int, doubted: Collection[str]) -> Mapping[str, ExampleIndex]:
    """The index of examples by feature, cached for up to ``FRESH`` seconds; at most two queries.

    Args:
        site_id: the site.
        doubted: authors whose answers are not used.
    """
    now, kept = time.monotonic(), _cached.get(site_id, _CachedExamples())
    if now - kept.read_at >= FRESH:
        examples = _refresh_examples(site_id, kept.examples)
        answers: dict[str, list[int]] = defaultdict(list)
        for answer, (key, example) in examples.items():
            if len(answers[key]) < MOST_OF_FEATURE and example.author not in doubted:
                answers[key].append(answer)
        indexes = {
            key: kept.indexes[key]
            if key in kept.indexes and kept.indexes[key][0] == chosen
            else (chosen, ExampleIndex(examples[answer][1] for answer in chosen))
            for key, chosen in answers.items()
            if chosen
        }
        if len(_cached) > MOST_SITES:
            _cached.clear()
        kept = _cached[site_id] = _CachedExamples(examples, indexes, now)
    return {key: index for key, (_, index) in kept.indexes.items()}


def _refresh_examples(
    site_id: int, known: Mapping[int, tuple[str, Example]]
) -> Mapping[int, tuple[str, Example]]:
    """The feature and example of each answer that models may see, newest first: valid, in time,
    about stored texts, of authors who are believed and have not left. Reads only those that are not
    ``known``."""
    newest = (
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
        .order_by("-pk")
    )
    stand = list(newest.values_list("pk", flat=True)[:MOST_OF_SITE])
    everything = dict(known)
    if new := [answer for answer in stand if answer not in known]:
        related = ("question__message", "question__feature", "author")
        rows = newest.filter(pk__gte=min(new)).select_related(*related).only(*_COLUMNS)
        for answer in rows[:MOST_OF_SITE]:
            question, value = answer.question, value_of(answer)
            if value:
                conversation = str(question.message.conversation_id)
                everything[answer.pk] = (
                    question.feature.key,
                    Example(question.message.text, value, conversation, answer.author.uid.hex),
                )
    return {answer: everything[answer] for answer in stand if answer in everything}


#: Maximum number of examples in a prompt.
MOST_EXAMPLES = 4


def prediction_calls_for(
    message: Message, shown: AuthorMessage, echo: Echo, doubted: Collection[str]
) -> Callable[[Feature], Call]:
    """A function that returns the call to predict a feature of ``message``, without a query.

    Answers of ``doubted`` authors are not shown as examples.
    """
    author, salt, tokens = message.author, salt_of(message.author.site), echo.example_tokens
    moment = MessageContext(shown.text, shown.context, str(message.conversation_id), author.uid.hex)
    indexes = indexes_of(author.site_id, doubted) if tokens else {}

    def call(feature: Feature) -> Call:
        nearest: Sequence[Example] = ()
        if feature.key in indexes:
            nearest = indexes[feature.key].nearest(
                moment.text,
                most=MOST_EXAMPLES,
                tokens=tokens,
                conversation=moment.conversation,
                author=moment.author,
            )
        return predict_call(
            feature.key,
            value_schema(feature),
            moment,
            _prompt(),
            salt,
            signs=signs_of(feature),
            # Messages that older rules let through are not shown to a model.
            examples=[example for example in nearest if not shows_danger(example.text)],
        )

    return call


@cache
def _prompt() -> Prompt:
    return PromptLibrary(settings.PROMPTS_DIR).get("echo", "predict")
