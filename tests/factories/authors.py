"""Sites with the shopping features, people who write there, and questions without a model.

Everything is written by the services that write it in the product; only what a model would have
said is given: the ready questions of the features.
"""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import Any

from django.db.models import F
from django.utils import timezone

from apps.accounts.models import User
from apps.authors.models import Author, Message, Question, Site, SiteKey
from apps.authors.selectors.sites import consent_hash, consent_words, current_consent
from apps.authors.services.answers import SubmittedAnswer, record_answer
from apps.authors.services.authors import Arrival, author_of_subject, consent_of
from apps.authors.services.message_lease import AskingTask, prompts
from apps.authors.services.messages import Incoming, store_message
from apps.authors.services.questions import next_question, store_questions
from apps.authors.services.sites import add_key, create_site
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from labelhub.core.interview.features import starter_library
from labelhub.core.interview.pipeline import (
    AuthorMessage,
    InterviewPlan,
    InterviewResult,
    StageVerdict,
)
from labelhub.core.interview.questions import template_draft
from tests.factories.projects import ProjectFactory

ORIGIN = "https://shop.example.org"
TEXT = "I am looking for a quiet laptop for my studies, and it must not cost too much."
PER_ITEM = {"task": "per_item", "question": ""}
_numbers = count(1)


def site_with_features(
    project: Project | None = None,
    *,
    library: str = "shopping",
    actor: User | None = None,
    **fields: Any,
) -> Site:
    """A site that asks about every message (``every_messages=3, min_seconds=90`` for the product's
    own pace); in a project of its own unless there is one."""
    usual: dict[str, Any] = {
        "name": f"Shop {next(_numbers)}",
        "allowed_origins": [ORIGIN],
        "every_messages": 1,
        "min_seconds": 0,
    }
    return create_site(
        project=project or ProjectFactory.create(definition=PER_ITEM),
        actor=actor,
        features=starter_library()[library],
        **(usual | fields),
    )


def author_of(site: Site, subject: str = "", *, consent: bool = True) -> Author:
    """Somebody who has agreed to the site's present text; anonymous without ``subject``."""
    author = author_of_subject(site, subject) if subject else Author.objects.create(site=site)
    author.site = site
    if consent:
        consent_of(author, current_consent(site), site.consent_by)
    return author


def message_of(author: Author, text: str = TEXT, **fields: Any) -> Message:
    """A message as it was heard; ``fields`` are those of :class:`Incoming`."""
    usual = {"ref": f"made-{next(_numbers)}", "conversation": "talk", "role": "author"}
    heard = store_message(author.site, author.pk, Incoming(text=text, **(usual | fields)))
    heard.message.author = author
    return heard.message


def asked(
    author: Author,
    text: str = TEXT,
    features: Sequence[str] = ("urgency", "main_attribute"),
    **fields: Any,
) -> list[Question]:
    """The stored questions of a survey about one message, by the features' templates: a choice of
    four and a word unless told otherwise. None of them is sent yet."""
    message = message_of(author, text, **fields)
    rows = {row.key: row for row in author.site.features.asked()}
    chosen = [rows[key].parsed for key in features]
    drafts = [
        template_draft(feature, next(iter(feature.values), "quiet"), "en") for feature in chosen
    ]
    task = AskingTask(
        message=message,
        spec=ensure_builtin(),
        author_message=AuthorMessage(text=message.text, language="en"),
        plan=InterviewPlan(features=tuple(chosen), prompts=prompts(), salt="salt"),
        propensity=1.0,
        features=rows,
    )
    passed = StageVerdict("questions", passed=True)
    return store_questions(
        task, InterviewResult(tuple(draft for draft in drafts if draft), (passed,)), 20_000
    )


def shown_to(author: Author, *, seconds_ago: float = 10.0) -> Question:
    """The question whose turn it is, sent and on the screen for so long; it can be answered."""
    question = next_question(author)
    assert question is not None, "nothing is asked of this author"
    shown = timezone.now() - timedelta(seconds=seconds_ago)
    Question.objects.filter(pk=question.pk).update(
        pushed_at=shown, shown_at=shown, status=Question.Status.SHOWN
    )
    question.refresh_from_db()
    return question


def later(author: Author, seconds: float) -> None:
    """Move what happened to the author's questions back in time, as if so long had passed."""
    step = timedelta(seconds=seconds)
    questions = Question.objects.filter(author=author)
    questions.update(pushed_at=F("pushed_at") - step, shown_at=F("shown_at") - step)


def arrival_at(site: Site, **fields: Any) -> Arrival:
    """Somebody who agrees to the site's present text on its page."""
    text = current_consent(site)
    shown = consent_hash(consent_words(text, site.language, site.language))
    return Arrival(consent_version=text.version, consent_hash=shown, **fields)


def server_key(site: Site) -> str:
    """A secret for the site's own servers."""
    return add_key(site=site, purpose=SiteKey.Purpose.SERVER, actor=None)[1]


def signing_secret(site: Site) -> tuple[str, str]:
    """(kid, secret) with which the host signs who an author is."""
    key, plain = add_key(site=site, purpose=SiteKey.Purpose.SIGN, actor=None)
    return key.kid, plain


def answered_by(
    author: Author, text: str = TEXT, *, feature: str = "urgency", option: str = "a"
) -> Question:
    """A question about what the author wrote, answered by them: an item with a label and gold."""
    asked(author, text, features=[feature])
    question = shown_to(author)
    answer = SubmittedAnswer(ref=f"answer-{next(_numbers)}", option=option)
    record_answer(author, question.uid, answer, consent=None, received=timezone.now())
    question.refresh_from_db()
    return question
