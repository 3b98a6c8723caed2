"""What authors answered, as models are shown it: kept in each process, renewed as answers come."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import QuerySet

from apps.authors.models import Answer
from apps.authors.querysets import counting_authors
from apps.authors.selectors.sites import FRESH
from apps.echo.values import predicted_value_of, value_of
from labelhub.core.echo.examples import Example, ExampleIndex

#: Of a site's answers the newest are looked at, and of those of one feature the newest are kept.
MOST_OF_SITE, MOST_OF_FEATURE = 3_000, 500
#: Sites whose examples a process keeps.
MOST_SITES = 20
#: Columns of an answer that make an example.
_COLUMNS = (
    "outcome", "value", "position", "author__uid", "question__options", "question__predicted",
    "question__feature__key", "question__message__text", "question__message__conversation_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Kept:
    """Examples with their feature by answer; for each feature its index, and of which answers."""

    examples: Mapping[int, tuple[str, Example]] = field(default_factory=dict)
    indexes: Mapping[str, ExampleIndex] = field(default_factory=dict)
    made_of: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    looked_at: float = 0.0


_kept: dict[int, _Kept] = {}


def indexes_of(site_id: int, doubted: Collection[str]) -> Mapping[str, ExampleIndex]:
    """The examples of each feature that has any, as old as what a process believes of a site may
    be. Two queries at most, and none where they are fresh.

    Args:
        site_id: the site.
        doubted: authors whose answers are no examples.
    """
    now, kept = time.monotonic(), _kept.get(site_id, _Kept())
    if kept.looked_at and now - kept.looked_at < FRESH:
        return kept.indexes
    examples = _renewed(site_id, kept.examples)
    made_of = _newest(examples, doubted)
    indexes = {
        key: kept.indexes[key]
        if kept.made_of.get(key) == answers
        else ExampleIndex(examples[each][1] for each in answers)
        for key, answers in made_of.items()
    }
    if len(_kept) > MOST_SITES:
        _kept.clear()
    _kept[site_id] = _Kept(examples, indexes, made_of, now)
    return indexes


def standing_answers(site_id: int) -> "QuerySet[Answer]":
    """What may be shown to models: answers that stand, in time, about texts that are still kept,
    of authors who are believed and have not left."""
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
    """Each answer's key, its feature's key, and the example that it makes; in one query."""
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


def _renewed(
    site_id: int, known: Mapping[int, tuple[str, Example]]
) -> Mapping[int, tuple[str, Example]]:
    """What stands now, the newest first; what is known already is not read again."""
    newest = standing_answers(site_id).order_by("-pk")
    stand = list(newest.values_list("pk", flat=True)[:MOST_OF_SITE])
    new = [answer for answer in stand if answer not in known]
    read = {}
    if new:
        since = newest.filter(pk__gte=min(new))[:MOST_OF_SITE]
        read = {answer: (key, example) for answer, key, example in read_examples(since)}
    everything = {**known, **read}
    return {answer: everything[answer] for answer in stand if answer in everything}


def _newest(
    examples: Mapping[int, tuple[str, Example]], doubted: Collection[str]
) -> dict[str, tuple[int, ...]]:
    """The answers of each feature that are kept."""
    found: dict[str, list[int]] = defaultdict(list)
    for answer, (key, example) in examples.items():
        if len(found[key]) < MOST_OF_FEATURE and example.author not in doubted:
            found[key].append(answer)
    return {key: tuple(answers) for key, answers in found.items() if answers}
