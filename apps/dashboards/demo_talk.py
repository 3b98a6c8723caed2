"""The past of the demo's shop: sample visitors wrote, were asked and offered things, and Echo
learnt from their answers and clicks.

Everything goes through the services that do it in the product, with the offline model; only the
moments are moved back, so that the answers stand when the demo begins.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from django.db import transaction
from django.utils import timezone

from apps.authors.models import Author, Message, Question, Site
from apps.authors.selectors.sites import current_consent
from apps.authors.services.answers import SubmittedAnswer, dismiss, record_answer
from apps.authors.services.authors import author_of_subject, consent_of
from apps.authors.services.message_lease import take_up
from apps.authors.services.messages import Incoming, drop_message, store_message
from apps.authors.services.questions import interview, store_questions
from apps.dashboards.demo_lines import Line, Offline, sample_lines
from apps.dashboards.demo_offers import begin_experiment, move_offer_back, offer_at
from apps.echo.models import Echo, Experiment, LogEvent, Selection
from apps.echo.services.configuration import set_priors
from apps.echo.services.events import gather_answers, gather_rewards
from apps.echo.services.experiments import end_experiment
from apps.echo.services.learning import keep_up_with
from apps.echo.services.offer_decisions import messages_due
from apps.echo.services.selection import forget_known

#: Messages of sample visitors who are asked; after each comes one of a shopper, who is not.
MESSAGES = 90
VISITORS, SHOPPERS = 9, 36
#: After how many messages that were asked about Echo learns.
LESSON = 6
#: The experiment runs between these messages.
BEGINS, ENDS = 30, 66
#: So long ago the first one wrote, and so long an answer takes.
PAST, THOUGHT = timedelta(days=14), timedelta(seconds=9)
#: What the shop's owner expects to matter: the catalogue says for whom an item is.
EXPECTED = {"budget": 1.0, "recipient": 0.5, "experience_level": 0.5}


@dataclass(slots=True)
class _Past:
    """What goes on while the past is made."""

    echo: Echo
    begun: datetime
    visitors: Sequence[Author]
    shoppers: Sequence[Author]
    draws: Random = field(default_factory=lambda: Random(5))  # noqa: S311 - samples


@transaction.atomic
def talk_in_the_past(echo: Echo) -> None:
    """Let sample visitors write, answer and click, and Echo learn from it as it went."""
    site, begun = echo.site, timezone.now() - PAST
    Echo.objects.filter(pk=echo.pk).update(created_at=begun - timedelta(hours=1))
    echo.refresh_from_db()
    set_priors(site, EXPECTED)
    visitors = [_visitor(site, number) for number in range(1, VISITORS + 1)]
    shoppers = [_visitor(site, VISITORS + number) for number in range(1, SHOPPERS + 1)]
    past = _Past(echo, begun, visitors, shoppers)
    lines = list(sample_lines(2 * MESSAGES))
    experiment: Experiment | None = None
    for at in range(MESSAGES):
        if at == BEGINS:
            experiment = begin_experiment(echo)
        if at == ENDS and experiment is not None:
            end_experiment(experiment)
        _two_write(past, at, lines[2 * at : 2 * at + 2])
        if (at + 1) % LESSON == 0:
            _learn(echo, _moment(past, at + 1))
    if experiment is not None:
        _move_experiment_back(past, experiment)


def _moment(past: _Past, at: float) -> datetime:
    return past.begun + at * (PAST - timedelta(hours=1)) / MESSAGES


def _two_write(past: _Past, at: int, lines: Sequence[Line]) -> None:
    """A visitor writes and is asked, a shopper writes and is not; both may be offered something."""
    said = []
    for alone, line in enumerate(lines):
        people = past.shoppers if alone else past.visitors
        message = _said(people[at % len(people)], line, f"sample-{2 * at + alone}")
        if alone:
            drop_message(message, "choice", "not_worth_asking")
        else:
            _interviewed(message, line, _moment(past, at))
        said.append(message)
    messages_due(timezone.now())
    for alone, (message, line) in enumerate(zip(said, lines, strict=True)):
        offer_at(message, line, past.draws)
        _move_back(message, _moment(past, at + alone / 2))


def _learn(echo: Echo, moment: datetime) -> None:
    """What happened before ``moment`` is logged, and learnt."""
    before = echo.logged
    gather_answers(echo, moment)
    gather_rewards(echo, moment)
    keep_up_with(echo)
    LogEvent.objects.filter(echo=echo, number__gt=before).update(at=moment)
    forget_known(echo.pk)


def _move_experiment_back(past: _Past, experiment: Experiment) -> None:
    begins, ends = _moment(past, BEGINS), _moment(past, ENDS)
    moved = Experiment.objects.filter(pk=experiment.pk)
    moved.update(created_at=begins - timedelta(hours=1), started_at=begins, ended_at=ends)


def _visitor(site: Site, number: int) -> Author:
    author = author_of_subject(site, f"sample-visitor-{number}")
    author.site = site
    consent_of(author, current_consent(site), site.consent_by)
    return author


def _said(author: Author, line: Line, ref: str) -> Message:
    told = Incoming(ref=ref, conversation=ref, role="author", text=line.text)
    message = store_message(author.site, author, told).message
    message.author = author
    return message


def _move_back(message: Message, moment: datetime) -> None:
    move_offer_back(message, moment)
    Message.objects.filter(pk=message.pk).update(received_at=moment)
    Selection.objects.filter(message=message).update(at=moment)


def _interviewed(message: Message, line: Line, moment: datetime) -> None:
    task = take_up(message)
    if task is None:
        return
    for question in store_questions(task, asyncio.run(interview(task, Offline(), []))):
        _answer(message.author, question, line, moment)


def _answer(author: Author, question: Question, line: Line, moment: datetime) -> None:
    shown = moment + timedelta(seconds=2)
    Question.objects.filter(pk=question.pk).update(pushed_at=shown, shown_at=shown)
    option = _option_of(question, line)
    if option is None:
        dismiss(author, question.uid, "skip")
        return
    given = SubmittedAnswer(ref=f"answer-{question.pk}", option=option)
    record_answer(author, question.uid, given, consent=None, received=shown + THOUGHT)


def _option_of(question: Question, line: Line) -> str | None:
    """The option with what the author would say; None where the message says nothing of it."""
    value = line.answers.get(question.feature.key)
    options: Sequence[dict[str, str]] = question.options
    return next((each["id"] for each in options if each.get("value") == value), None)
