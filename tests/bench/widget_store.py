"""The database side of what is tried with many widgets, in a process of its own.

    python tests/bench/widget_store.py site [FIELD=VALUE ...]  a site that asks about every message
    python tests/bench/widget_store.py questions AUTHORS EACH  a site with questions to answer
    python tests/bench/widget_store.py heavy KEY MESSAGES      an author of whom much is kept
    python tests/bench/widget_store.py answers KEY             what was answered and labelled
    python tests/bench/widget_store.py messages KEY            what became of the messages

Prints one JSON object.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))
django.setup()

from django.core.management import call_command  # noqa: E402 - needs the settings
from django.db.models import Count, Q  # noqa: E402
from django.utils import timezone  # noqa: E402

from apps.authors.models import (  # noqa: E402
    Answer,
    Author,
    Consent,
    Conversation,
    Feature,
    Message,
    Question,
    Site,
)
from apps.authors.selectors.sites import (  # noqa: E402
    consent_hash,
    consent_words,
    current_consent,
)
from apps.common.sealing import digest  # noqa: E402
from apps.labels.models import Gold, Kind, Label  # noqa: E402
from apps.projects.models import Item  # noqa: E402
from labelhub.core.interview.questions import template_draft  # noqa: E402
from tests.factories.authors import ORIGIN, PER_ITEM, TEXT, site_with_features  # noqa: E402
from tests.factories.projects import ProjectFactory  # noqa: E402

#: Who answers many questions in seconds may do so here: a manager trusts them.
TRUSTED = {"ruling": True, "ruling_reason": "Answers for a test."}
#: Milliseconds that the first question of each takes to be read; it is shown when it is made.
FRESH_MS = 15_000
AT_ONCE = 500


def site(*fields: str) -> dict[str, Any]:
    """A site without limits; what a page that embeds it must know."""
    call_command("migrate", verbosity=0, stdout=sys.stderr)
    slug = f"shop-{uuid4().hex[:8]}"
    given: dict[str, Any] = dict(field.split("=", 1) for field in fields)
    project = ProjectFactory.create(slug=slug, definition=PER_ITEM)
    unlimited: dict[str, Any] = dict.fromkeys(("per_conversation", "per_day"), 10_000)
    unlimited |= dict.fromkeys(("calls_per_day", "replies_anonymous"), 10_000_000)
    return _embedding(site_with_features(project, **unlimited, **given))


def questions(authors: int, count: int) -> dict[str, Any]:
    """Authors who come back by a token, each with questions shown a minute ago, except the first,
    which they have just been shown. ``authors``: token and ids of the questions; ``options``: the
    label of each id, the same for all."""
    embedding = site()
    found = Site.objects.get(public_key=embedding["key"])
    people = [_author(found) for _ in range(authors)]
    Author.objects.bulk_create(author for author, _ in people)
    consent = current_consent(found)
    Consent.objects.bulk_create(
        Consent(author=author, text=consent, by=found.consent_by) for author, _ in people
    )
    asked = [(token, _questions(author, count)) for author, token in people]
    options = Question.objects.filter(site=found).first()
    return embedding | {
        "options": {option["id"]: option["label"] for option in options.options} if options else {},
        "authors": [{"token": token, "questions": uids} for token, uids in asked],
    }


def heavy(key: str, count: int) -> dict[str, Any]:
    """An author with so many messages and one question; their token, and the question's id."""
    author, token = _author(Site.objects.get(public_key=key))
    author.save()
    talk = _conversation(author)
    rows = [_message(author, talk, f"heavy-{index}") for index in range(count)]
    Message.objects.bulk_create(rows, batch_size=AT_ONCE)
    return {"token": token, "question": _questions(author, 1)[0], "author": author.pk}


def answers(key: str) -> dict[str, Any]:
    """The answers as they stand, and how many items have not exactly one label, one decision.

    ``answers``: sender's id → question, value, when it was received (seconds since 1970).
    """
    found = Answer.objects.filter(question__site__public_key=key)
    items = Item.objects.filter(author_question__site__public_key=key)
    one_each = items.annotate(
        said=Count("labels", filter=Q(labels__annotator__kind=Kind.AUTHOR), distinct=True),
        decided=Count("golds", filter=Q(golds__basis=Gold.Basis.AUTHOR), distinct=True),
    )
    rows = found.values_list("ref", "question__uid", "value", "received_at")
    return {
        "answers": {ref: [str(uid), value, stored.timestamp()] for ref, uid, value, stored in rows},
        "rows": found.count(),
        "items": items.count(),
        "items_off": one_each.exclude(said=1, decided=1).count(),
        "labels": Label.objects.filter(item__in=items).count(),
        "golds": Gold.objects.filter(item__in=items).count(),
        "labels_missing": found.exclude(
            label_uid__in=Label.objects.filter(item__in=items).values("uid")
        ).count(),
    }


def messages(key: str) -> dict[str, Any]:
    """How many there are, where they ended, and how many questions were asked."""
    found = Message.objects.filter(author__site__public_key=key)
    ends = Counter(
        f"{status} {stage} {reason}"[:60].strip()
        for status, stage, reason in found.values_list("status", "dropped_at", "reason")
    )
    asked = Question.objects.filter(site__public_key=key)
    return {
        "messages": found.count(),
        "ends": dict(ends),
        "questions": asked.count(),
        "surveys": asked.filter(number=1).count(),
        "not_sent": asked.filter(number=1, pushed_at__isnull=True).count(),
    }


def _embedding(made: Site) -> dict[str, Any]:
    text = current_consent(made)
    agreed = consent_hash(consent_words(text, made.language, made.language))
    consent = {"v": text.version, "hash": agreed, "scope": ["questions"], "by": made.consent_by}
    return {"key": made.public_key, "origin": ORIGIN, "consent": consent}


def _author(found: Site) -> tuple[Author, str]:
    token = uuid4().hex
    until = timezone.now() + timedelta(hours=2)
    return Author(site=found, token_digest=digest(token), token_until=until, **TRUSTED), token


def _conversation(author: Author) -> Conversation:
    return Conversation.objects.get_or_create(author=author, ref="talk")[0]


def _message(author: Author, conversation: Conversation, ref: str) -> Message:
    return Message(
        site=author.site,  # written in bulk: nothing fills it in
        conversation=conversation,
        author=author,
        ref=ref,
        role=Message.Role.AUTHOR,
        text=TEXT,
        language="en",
        status=Message.Status.ASKED,
    )


def _questions(author: Author, count: int) -> list[str]:
    talk = _conversation(author)
    rows = [_message(author, talk, f"asked-{index}") for index in range(count)]
    Message.objects.bulk_create(rows, batch_size=AT_ONCE)
    feature = author.site.features.get(key="urgency")
    made = Question.objects.bulk_create(
        [_question(author, message, feature) for message in rows], batch_size=AT_ONCE
    )
    fresh = {"pushed_at": timezone.now(), "shown_at": timezone.now(), "min_ms": FRESH_MS}
    Question.objects.filter(pk=made[0].pk).update(**fresh)
    return [str(question.uid) for question in made]


def _question(author: Author, message: Message, feature: Feature) -> Question:
    draft = template_draft(feature.parsed, feature.parsed.values[0], "en")
    assert draft is not None
    now = timezone.now()
    return Question(
        site=author.site,
        author=author,
        message=message,
        feature=feature,
        kind=draft.kind,
        text=draft.text,
        options=[
            {"id": name, "label": option, "value": draft.values.get(option, "")}
            for name, option in zip("abcd", draft.options, strict=True)
        ],
        language="en",
        source=draft.source,
        min_ms=5000,
        status=Question.Status.SHOWN,
        pushed_at=now - timedelta(minutes=1),
        shown_at=now - timedelta(minutes=1),
        expires_at=now + timedelta(hours=1),
    )


COMMANDS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "site": site,
    "questions": lambda authors, count: questions(int(authors), int(count)),
    "heavy": lambda key, count: heavy(key, int(count)),
    "answers": answers,
    "messages": messages,
}

if __name__ == "__main__":
    print(json.dumps(COMMANDS[sys.argv[1]](*sys.argv[2:])))
