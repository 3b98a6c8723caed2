"""The demo's site: a small shop whose visitors are asked about what they write, and a chat.

Its Echo is on: it has learnt from sample visitors what to ask, and recommends wares of the shop.
Their past goes through the services that do it in the product, with the offline model; only the
moments are moved back, so that the answers stand when the demo begins.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from apps.accounts.models import User
from apps.authors.models import Author, Message, Question, Site
from apps.authors.selectors.sites import current_consent
from apps.authors.services.answers import SubmittedAnswer, dismiss, record_answer
from apps.authors.services.authors import author_of_subject, consent_of
from apps.authors.services.message_lease import claim_message
from apps.authors.services.messages import Incoming, drop_message, store_message
from apps.authors.services.questions import Models, interview, store_questions
from apps.authors.services.site_config import next_offer, offers
from apps.authors.services.sites import create_site, update_site
from apps.echo.models import Decision, Echo, Experiment, LogEvent, OfferEvent, Selection
from apps.echo.services.catalogue import import_catalogue
from apps.echo.services.configuration import set_priors, switch_echo, update_echo
from apps.echo.services.events import gather_answers, gather_rewards
from apps.echo.services.experiments import create_experiment, end_experiment, start_experiment
from apps.echo.services.learning import keep_up_with
from apps.echo.services.offer_decisions import decide_about, messages_due
from apps.echo.services.selection import forget_known
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from apps.projects.models import Project
from apps.projects.services import create_project
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.echo.recommending.policies import ECHO, KEYWORD, NOTHING
from labelhub.core.interview.features import starter_library
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.types import Call, Completion
from labelhub.core.schema import parse_schema

TALK = Path(__file__).parent / "demo" / "shop_talk.json"
#: What a message says something about.
PARTS = 4


@dataclass(frozen=True, slots=True)
class Line:
    """A message, what it is about, and what its author would answer about it, by feature."""

    text: str
    ware: str
    answers: dict[str, str]


class Offline:
    async def complete(self, spec: ModelSpec, call: Call) -> Completion:
        """What it says, without a gateway's waiting and counting."""
        return await OfflineModel().complete(call)


def sample_lines(many: int) -> Iterator[Line]:
    """The same lines at every start."""
    talk, draws = json.loads(TALK.read_text(encoding="utf-8")), Random(8)  # noqa: S311 - samples
    first, *others = talk["parts"]
    for _ in range(many):
        chosen = [first, *draws.sample(others, PARTS - 1)]
        values = {key: draws.choice(sorted(talk["parts"][key])) for key in chosen}
        parts = [draws.choice(talk["parts"][key][value]) for key, value in values.items()]
        ware = draws.choice(talk["wares"])
        yield Line(" ".join(parts).replace("{ware}", ware), ware, values)


# The services that offer at a site do it here. Whether a sample visitor clicks is drawn by how well
# the item suits what they said, so that there is something to learn; no real person is behind it.

EXPERIMENT_NAME = "Echo, words in common, or nothing (sample visitors)"
#: Chance of a click on any item, and what is added for the ware and for each feature it suits.
ANY, WARE, SUITED = 0.05, 0.15, 0.25
#: Clicks that are followed by "helpful" or not, and those that are followed by another click.
SAID, AGAIN = 0.6, 0.2


@asynccontextmanager
async def _offline(_spec: ModelSpec, _patience: Patience) -> AsyncIterator[Models]:
    yield Offline()


def make_offer(message: Message, line: Line, draws: Random) -> None:
    """Decide what to offer at a message that is due, show it, and let its author click or not."""
    decision = decide_about(message.pk, _offline)
    if decision is None or next_offer(message.author) is None:
        return
    for number, what in enumerate(("shown", *_draw_reaction(decision, line, draws))):
        feature = _suited_key(decision, line) if what == "mattered" else ""
        offers().record_event(message.author, decision.uid, what, f"{what}-{number}", feature)


def move_offer_back(message: Message, moment: datetime) -> None:
    """As if it had been decided about and shown at ``moment``."""
    step = message.received_at - moment
    fields = ("message_at", "created_at", "sent_at", "shown_at")
    decisions = Decision.objects.filter(message=message)
    decisions.update(**{field: F(field) - step for field in fields})
    OfferEvent.objects.filter(decision__message=message).update(at=F("at") - step)


def begin_experiment(echo: Echo) -> Experiment:
    """Echo against words in common and no offers, with the sample visitors."""
    arms = [Arm("echo", 0.5, ECHO), Arm("keyword", 0.25, KEYWORD), Arm("nothing", 0.25, NOTHING)]
    made = create_experiment(
        echo, name=EXPERIMENT_NAME, arms=arms, control="keyword", planned_days=7
    )
    return start_experiment(made)


def _draw_reaction(decision: Decision, line: Line, draws: Random) -> list[str]:
    suited = _click_chance(decision, line)
    if draws.random() >= suited:
        return ["close"] if draws.random() < SAID else []
    clicks = ["click", "click"] if draws.random() < AGAIN else ["click"]
    if draws.random() >= SAID:
        return clicks
    named = ["mattered"] if decision.mattered_keys else []
    return [*clicks, "helpful" if suited > WARE + SUITED else "unhelpful", *named]


def _suited_key(decision: Decision, line: Line) -> str:
    """A feature, of those that the author is asked about, that the item suits; "" for none."""
    suited = _suited_keys(decision, line)
    return next((key for key in decision.mattered_keys if key in suited), "")


def _suited_keys(decision: Decision, line: Line) -> list[str]:
    known = decision.item.definition.get("attributes", {}) if decision.item else {}
    return [key for key, value in line.answers.items() if value in known.get(key, ())]


def _click_chance(decision: Decision, line: Line) -> float:
    item: dict[str, Any] = decision.item.definition if decision.item else {}
    suited = len(_suited_keys(decision, line))
    fits = line.ware in (*item.get("tags", ()), item.get("title", "").lower())
    return ANY + WARE * fits + SUITED * suited


#: Messages of sample visitors who are asked; each is followed by one of a shopper, not asked.
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
    echo: Echo
    begun: datetime
    visitors: Sequence[Author]
    shoppers: Sequence[Author]
    draws: Random = field(default_factory=lambda: Random(5))  # noqa: S311 - samples


@transaction.atomic
def make_sample_talk(echo: Echo) -> None:
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
    for position in range(MESSAGES):
        if position == BEGINS:
            experiment = begin_experiment(echo)
        if position == ENDS and experiment is not None:
            end_experiment(experiment)
        _write_and_ask(past, position, lines[2 * position : 2 * position + 2])
        if (position + 1) % LESSON == 0:
            _learn(echo, _moment(past, position + 1))
    if experiment is not None:
        begins, ends = _moment(past, BEGINS), _moment(past, ENDS)
        moved = Experiment.objects.filter(pk=experiment.pk)
        moved.update(created_at=begins - timedelta(hours=1), started_at=begins, ended_at=ends)


def _moment(past: _Past, position: float) -> datetime:
    return past.begun + position * (PAST - timedelta(hours=1)) / MESSAGES


def _write_and_ask(past: _Past, position: int, lines: Sequence[Line]) -> None:
    """A visitor writes and is asked, a shopper writes and is not; both may be offered something."""
    messages = []
    for alone, line in enumerate(lines):
        people = past.shoppers if alone else past.visitors
        author, ref = people[position % len(people)], f"sample-{2 * position + alone}"
        incoming = Incoming(ref=ref, conversation=ref, role="author", text=line.text)
        message = store_message(author.site, author.pk, incoming).message
        message.author = author
        if alone:
            drop_message(message, "choice", "not_worth_asking")
        else:
            task, moment = claim_message(message), _moment(past, position)
            if task is not None:
                result = asyncio.run(interview(task, Offline(), []))
                for question in store_questions(task, result):
                    _answer(author, question, line, moment)
        messages.append(message)
    messages_due(timezone.now())
    for alone, (message, line) in enumerate(zip(messages, lines, strict=True)):
        make_offer(message, line, past.draws)
        moment = _moment(past, position + alone / 2)
        move_offer_back(message, moment)
        Message.objects.filter(pk=message.pk).update(received_at=moment)
        Selection.objects.filter(message=message).update(at=moment)


def _learn(echo: Echo, moment: datetime) -> None:
    before = echo.logged
    gather_answers(echo, moment)
    gather_rewards(echo, moment)
    keep_up_with(echo)
    LogEvent.objects.filter(echo=echo, number__gt=before).update(at=moment)
    forget_known(echo.pk)


def _visitor(site: Site, number: int) -> Author:
    author = author_of_subject(site, f"sample-visitor-{number}")
    author.site = site
    consent_of(author, current_consent(site), site.consent_by)
    return author


def _answer(author: Author, question: Question, line: Line, moment: datetime) -> None:
    shown = moment + timedelta(seconds=2)
    Question.objects.filter(pk=question.pk).update(pushed_at=shown, shown_at=shown)
    value = line.answers.get(question.feature.key)
    options: Sequence[dict[str, str]] = question.options
    option = next((option["id"] for option in options if option.get("value") == value), None)
    if option is None:
        dismiss(author, question.uid, "skip")
        return
    given = SubmittedAnswer(ref=f"answer-{question.pk}", option=option)
    record_answer(author, question.uid, given, consent=None, received=shown + THOUGHT)


SLUG = "shop-talk"
NAME = "Corner shop"
GREETING = "Hello! Tell me what you are looking for. I match words; I am not a language model."
INSTRUCTIONS = (
    "You help visitors of a small outdoor and household shop that sells tents, lamps, backpacks, "
    "kettles, blankets and head torches. Recommend at most two things at a time."
)
#: Written for the demo, as its last column says.
CATALOGUE = Path(__file__).parent / "demo" / "shop_catalogue.csv"
#: A visitor of the demo sees recommendations at once.
OFTEN: Mapping[str, Any] = {"offer_every_messages": 1, "offer_min_seconds": 5, "reward_minutes": 5}
#: A visitor of the demo is asked at once, and more than once.
EAGER: Mapping[str, Any] = {
    "every_messages": 1,
    "min_seconds": 0,
    "per_conversation": 100,
    "per_day": 1000,
    "replies_anonymous": 300,
}


def prepare_demo_site(manager: User, origins: Sequence[str]) -> Site:
    """Make the project and its site once; ``origins`` are those at which this server is reached."""
    project = Project.objects.filter(slug=SLUG).first() or create_project(
        actor=manager,
        slug=SLUG,
        name="Shop talk",
        description="What do visitors of a shop mean by what they write? They are asked.",
        schema=parse_schema({"task": "per_item", "question": "", "labels": []}),
        blind_share=0,  # a tour: every item shows what it can show
    )
    site = project.sites.filter(name=NAME).first() or create_site(
        project=project,
        actor=manager,
        name=NAME,
        features=starter_library()["shopping"],
        languages=["en", "de", "es", "fr", "ja"],
        chat_title="Corner shop",
        chat_greeting=GREETING,
        chat_instructions=INSTRUCTIONS,
        **EAGER,
    )
    known = [*site.allowed_origins, *origins]
    if set(known) != set(site.allowed_origins):
        update_site(site=site, allowed_origins=list(dict.fromkeys(known)))
    # Echo that was switched off in the demo stays off.
    if not Echo.objects.filter(site=site).exists():
        echo = switch_echo(site, on=True)
        import_catalogue(echo, CATALOGUE.read_bytes())
        update_echo(echo, offers_on=True, **OFTEN)
        make_sample_talk(echo)
    return site


def find_demo_site() -> Site | None:
    return Site.objects.filter(project__slug=SLUG, name=NAME).first()
