"""What the first message after a start would wait for, loaded before it comes."""

import logging

from django.db import connection

from apps.authors.models import Site
from apps.authors.services.messages import screen_text
from apps.authors.services.taking_up import prompts
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
