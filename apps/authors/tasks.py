"""Celery tasks, regular housekeeping, and what is loaded before the first message."""

import logging
import time

from celery import shared_task
from django.db import connection, transaction
from django.utils import timezone

from apps.authors.models import Site
from apps.authors.services.message_lease import prompts, unfinished_messages
from apps.authors.services.messages import screen_text
from apps.authors.services.privacy import forget_old
from apps.authors.services.questions import ask_now, expire_questions
from apps.authors.services.trust import judge_due_authors
from labelhub.core.llm.offline.matcher import lexicon

logger = logging.getLogger(__name__)

#: Any text that goes through all stages.
_ANY = "I am looking for a warm lamp for my desk, what would you recommend?"


def warm_up() -> None:
    """Load tables, language model, prompts and word list; a second's work, and only where there is
    a site whose authors could wait for it. Never raises."""
    try:
        sites = Site.objects.filter(enabled=True).select_related("model__provider")
        for site in sites[:1]:
            screen_text(site, _ANY)
            prompts()
            if site.model is None or site.model.offline:
                lexicon()
    except Exception:  # nothing is lost: the first message loads it
        logger.exception("What the widget needs could not be loaded ahead")
    finally:
        connection.close()


#: Seconds between two rounds of judging, and of forgetting what is past its retention.
JUDGE_EVERY, FORGET_EVERY = 15.0, 600.0
#: Pause → when its work was done last, on the clock of :func:`time.monotonic`.
_done_at: dict[float, float] = {}


@shared_task(name="authors.ask_about")
def ask_about_task(message_id: int) -> None:
    """Ask the models about a message that came without a socket, or that a kill left behind."""
    ask_now(message_id)


def launch_asking(message_id: int) -> None:
    """Send a task for the message once the transaction is through. A broker that is down is logged,
    nothing more: :func:`resume_messages` tries again."""
    transaction.on_commit(lambda: ask_about_task.delay(message_id), robust=True)


def resume_messages() -> int:
    ids = unfinished_messages()
    for message_id in ids:
        ask_about_task.delay(message_id)
    return len(ids)


def run_housekeeping() -> None:
    """Close what is over; now and then judge who has answered, and forget what is past its time."""
    expire_questions(timezone.now())
    if _due(JUDGE_EVERY):
        judge_due_authors()
    if _due(FORGET_EVERY):
        forget_old(timezone.now())


def _due(pause: float) -> bool:
    """Whether so long has passed in this process since it was due last."""
    now = time.monotonic()
    due = now - _done_at.get(pause, -pause) >= pause
    if due:
        _done_at[pause] = now
    return due
