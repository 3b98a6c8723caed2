"""What sample visitors of the demo's shop were offered, and whether they clicked.

The services that offer at a site do it here. Whether a sample visitor clicks is drawn by how well
the item suits what they said, so that there is something to learn; no real person is behind it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from random import Random
from typing import Any

from django.db.models import F

from apps.authors.models import Message
from apps.authors.services.questions import Models
from apps.authors.services.site_config import next_offer, record_offer_event
from apps.dashboards.demo_lines import Line, Offline
from apps.echo.models import Decision, Echo, Experiment, OfferEvent
from apps.echo.services.experiments import create_experiment, start_experiment
from apps.echo.services.offer_decisions import decide_about
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from labelhub.core.echo.experiments.assignment import Arm
from labelhub.core.echo.recommending.policies import ECHO, KEYWORD, NOTHING

NAME = "Echo, words in common, or nothing (sample visitors)"
#: Chance of a click on any item, and what is added for the ware and for each feature it suits.
ANY, WARE, SUITED = 0.05, 0.15, 0.25
#: Clicks that are followed by "helpful" or not, and those that are followed by another click.
SAID, AGAIN = 0.6, 0.2


@asynccontextmanager
async def _offline(_spec: ModelSpec, _patience: Patience) -> AsyncIterator[Models]:
    yield Offline()


def offer_at(message: Message, line: Line, draws: Random) -> None:
    """Decide what to offer at a message that is due, show it, and let its author click or not."""
    decision = decide_about(message.pk, _offline)
    if decision is None or next_offer(message.author) is None:
        return
    for at, what in enumerate(("shown", *_outcome(decision, line, draws))):
        record_offer_event(message.author, decision.uid, what, f"{what}-{at}")


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
    made = create_experiment(echo, name=NAME, arms=arms, control="keyword", planned_days=7)
    return start_experiment(made)


def _outcome(decision: Decision, line: Line, draws: Random) -> list[str]:
    suited = _suited(decision, line)
    if draws.random() >= suited:
        return ["close"] if draws.random() < SAID else []
    clicks = ["click", "click"] if draws.random() < AGAIN else ["click"]
    if draws.random() >= SAID:
        return clicks
    return [*clicks, "helpful" if suited > WARE + SUITED else "unhelpful"]


def _suited(decision: Decision, line: Line) -> float:
    """The chance that the author clicks."""
    item: dict[str, Any] = decision.item.definition if decision.item else {}
    known = item.get("attributes", {})
    suited = sum(value in known.get(key, ()) for key, value in line.answers.items())
    fits = line.ware in (*item.get("tags", ()), item.get("title", "").lower())
    return ANY + WARE * fits + SUITED * suited
