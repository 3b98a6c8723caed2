"""Chainable filters of leases and decisions."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import models
from django.db.models import Q

from apps.projects.models import Project

if TYPE_CHECKING:
    from apps.accounts.models import User
    from apps.reviews.models import Decision, Slot  # noqa: F401 - named in the bases below


class SlotQuerySet(models.QuerySet["Slot"]):
    """Slots."""

    def live(self, now: datetime) -> "SlotQuerySet":
        """Slots that somebody holds at ``now``."""
        return self.filter(label__isnull=True, lease_until__gt=now)

    def takeable(self, now: datetime) -> "SlotQuerySet":
        """Slots that wait for a label and that nobody holds at ``now``."""
        lapsed = Q(lease_until__isnull=True) | Q(lease_until__lte=now)
        return self.filter(lapsed, label__isnull=True)

    def held_by(self, user: "User", tokens: Iterable[UUID]) -> "SlotQuerySet":
        """Unlabelled slots that still carry one of these tokens of ``user``, lapsed or not."""
        return self.filter(label__isnull=True, holder=user, lease_token__in=list(tokens))


class DecisionQuerySet(models.QuerySet["Decision"]):
    """Decisions."""

    def standing(self, project: Project, user: "User") -> "DecisionQuerySet":
        """What ``user`` decided in ``project`` and has not undone, the latest first."""
        return self.filter(project=project, reviewer=user, undone_at__isnull=True).order_by("-pk")

    def undoable(self) -> "DecisionQuerySet":
        """Those whose label, if they gave one, was neither superseded nor withdrawn since."""
        stands = Q(label__withdrawn=False, label__superseded_by__isnull=True)
        return self.filter(stands | Q(label__isnull=True))

    def only_rejecting(self) -> "DecisionQuerySet":
        """Those that only reject the suggestion, which the person has not answered since."""
        return self.undoable().filter(label__rejected=True)

    def skips(self) -> "DecisionQuerySet":
        """Only skips."""
        return self.filter(action="skip")
