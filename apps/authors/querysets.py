"""Chainable, meaning-bearing filters of what authors wrote and answered."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from apps.authors.models import (  # noqa: F401 - named in quotes below
        Answer,
        Author,
        Feature,
        Message,
        Question,
        Reward,
    )

#: Still to be answered.
OPEN = ("waiting", "pushed", "shown")


def counting_authors(author: str = "") -> models.Q:
    """Authors whose answers count, as ``Author.counts`` has it; ``author``: the way to them."""
    way = f"{author}__" if author else ""
    ruled, trusted = f"{way}ruling", f"{way}trusted"
    return models.Q(**{ruled: True}) | models.Q(**{f"{ruled}__isnull": True, trusted: True})


def is_due(now: datetime) -> models.Q:
    """Rewards that have been held long enough, of authors of whom enough is known."""
    proven = models.Q(author__ruling=True) | models.Q(
        author__ruling__isnull=True, author__proven=True
    )
    return models.Q(due_at__lte=now) & proven


class FeatureQuerySet(models.QuerySet["Feature"]):
    def asked(self) -> "FeatureQuerySet":
        """Those that the site asks about at present, in its order."""
        return self.filter(active=True).order_by("position", "pk")


class MessageQuerySet(models.QuerySet["Message"]):
    def by_authors(self) -> "MessageQuerySet":
        """What authors wrote, without the assistant's part."""
        return self.filter(role="author")


class QuestionQuerySet(models.QuerySet["Question"]):
    def open(self, now: datetime) -> "QuestionQuerySet":
        """Those that may still be answered, in the order in which they are asked."""
        return self.filter(status__in=OPEN, expires_at__gt=now).order_by("message_id", "number")


class AnswerQuerySet(models.QuerySet["Answer"]):
    def standing(self) -> "AnswerQuerySet":
        """Those that were not taken back."""
        return self.filter(undone_at__isnull=True)


class RewardQuerySet(models.QuerySet["Reward"]):
    def standing(self) -> "RewardQuerySet":
        """Those that were not voided."""
        return self.filter(void_at__isnull=True)

    def cents(self) -> int:
        return self.aggregate(sum=models.Sum("cents"))["sum"] or 0

    def due(self, now: datetime) -> "RewardQuerySet":
        """Those that have been held long enough and were in no payout yet, of authors of whom
        enough is known: by the signals, or because a manager trusts them."""
        return self.standing().filter(is_due(now), payout__isnull=True)
