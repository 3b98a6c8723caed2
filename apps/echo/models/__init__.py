"""What a site's Echo has been told, what it has learnt from it, what it chose and offered.

The log is the truth; states, models and snapshots are made from it and can be made again.
"""

from apps.echo.models.learning import (
    AuthorTrust,
    Echo,
    LogEvent,
    ModelState,
    Scored,
    Selection,
    Snapshot,
)
from apps.echo.models.offering import CatalogueItem, Decision, Experiment, OfferEvent
from apps.echo.models.searching import PromptSearch, SearchReply

__all__ = [
    "AuthorTrust",
    "CatalogueItem",
    "Decision",
    "Echo",
    "Experiment",
    "LogEvent",
    "ModelState",
    "OfferEvent",
    "PromptSearch",
    "Scored",
    "SearchReply",
    "Selection",
    "Snapshot",
]
