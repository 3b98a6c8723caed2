"""The answers on which a search tries instructions, as they were when it began."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from apps.authors.models import Message
from apps.authors.services.hearing import CONTEXT
from apps.authors.services.ledger import SHOWN_OF_REPLIES
from apps.echo.examples import read_examples, standing_answers
from apps.echo.models import PromptSearch
from apps.echo.states import doubted_authors
from labelhub.core.echo.examples import Example

#: The newest answers that are looked at: more than are ever kept back.
MOST_LABELS = 600


def labels_of(search: PromptSearch) -> list[Example]:
    """The answers about its feature that stand, with what was said before their messages."""
    doubted = doubted_authors(search.echo)
    answers = standing_answers(search.echo.site_id).filter(
        question__feature__key=search.feature, pk__lte=search.until
    )
    newest = answers.order_by("-pk")[:MOST_LABELS]
    messages = dict(newest.values_list("pk", "question__message"))
    found = {
        messages[answer]: example
        for answer, _, example in read_examples(newest)
        if example.author not in doubted
    }
    before = _said_before(found)
    return [replace(example, context=before[message]) for message, example in found.items()]


def _said_before(found: Mapping[int, Example]) -> dict[int, tuple[tuple[str, str], ...]]:
    """By message what was said before it, as models see it (``taking_up.as_asked``); one query."""
    talks = {int(example.conversation) for example in found.values()}
    rows = Message.objects.filter(conversation__in=talks).exclude(text="").order_by("pk")
    said: dict[str, list[tuple[int, str, str]]] = defaultdict(list)
    for talk, pk, role, text in rows.values_list("conversation", "pk", "role", "text"):
        shown = text if role == Message.Role.AUTHOR else text[:SHOWN_OF_REPLIES]
        said[str(talk)].append((pk, role, shown))
    return {
        message: tuple(
            (role, text) for pk, role, text in said[example.conversation] if pk < message
        )[-CONTEXT:]
        for message, example in found.items()
    }
