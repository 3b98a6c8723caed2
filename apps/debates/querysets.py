"""Chainable filters of runs and debates."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.utils import timezone

from apps.labels.blindness import hidden_from
from apps.projects.models import Project

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.debates.models import Debate, Run  # noqa: F401 - in the strings below


class RunQuerySet(models.QuerySet["Run"]):
    """Runs."""

    def visible_to(self, user: "User | AnonymousUser") -> "RunQuerySet":
        """Runs of projects that ``user`` may know of."""
        return self.filter(project__in=Project.objects.visible_to(user))

    def going(self) -> "RunQuerySet":
        """Runs that some worker should be driving."""
        return self.filter(status__in=["queued", "running"])


class DebateQuerySet(models.QuerySet["Debate"]):
    """Debates."""

    def open_to(self, user: "User | AnonymousUser") -> "DebateQuerySet":
        """Without those of items that ``user`` is yet to audit blind."""
        return self.exclude(hidden_from(user.pk or 0, item="item"))

    def visible_to(self, user: "User | AnonymousUser") -> "DebateQuerySet":
        """Debates of projects that ``user`` may know of."""
        return self.filter(run__project__in=Project.objects.visible_to(user))

    def claimable(self) -> "DebateQuerySet":
        """Waiting, and not held by a live worker."""
        lapsed = models.Q(lease_until__isnull=True) | models.Q(lease_until__lt=timezone.now())
        return self.filter(lapsed, status="waiting")
