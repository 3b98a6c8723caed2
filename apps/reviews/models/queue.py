"""The queue's leases, what reviewers decided, and what they have begun."""

from datetime import datetime
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.labels.models import Label
from apps.projects.models import Item, Project
from apps.reviews.querysets import DecisionQuerySet, SlotQuerySet


class Purpose(models.TextChoices):
    """What an item was handed out for. Whether its answer is known the person cannot tell."""

    WORK = "work", "Work"
    SETTLE = "settle", "Adjudication"
    CHECK = "check", "Known answer mixed in"
    QUALIFY = "qualify", "Qualification"


class Slot(models.Model):
    """One wanted label of an item, held by at most one person at a time.

    Made at the first claim. ``label`` set means done. The unique (item, number) and the conditional
    update in ``services.claim_next_item`` make a lease exclusive on SQLite and PostgreSQL alike.
    A place on an item whose answer is known (``purpose``) has no number: it is nobody else's.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField(null=True)
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.WORK)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    lease_token = models.UUIDField(null=True, blank=True, unique=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    leased_at = models.DateTimeField(null=True, help_text="When the holder was given it.")
    shown = models.ForeignKey(
        Label,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The suggestion that the holder was handed with it.",
    )
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")

    objects = SlotQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="reviews_slot_once"),
            models.UniqueConstraint(
                fields=["holder", "item"],
                condition=models.Q(number__isnull=True),
                name="reviews_slot_known_once",
            ),
        ]
        indexes = [models.Index(fields=["project", "lease_until"], name="reviews_slot_live")]

    @staticmethod
    def new_lease(until: datetime) -> dict[str, Any]:
        """The fields of a lease that is given now; nothing has been shown with it yet."""
        return {
            "lease_token": uuid4(),
            "lease_until": until,
            "leased_at": timezone.now(),
            "shown": None,
        }

    @property
    def is_over(self) -> bool:
        """Whether its holder may see since what it was to withhold; a place of a check withholds
        it until it is answered. In SQL: ``apps.labels.blindness.handed_blind``."""
        until = self.lease_until
        return self.purpose == Purpose.WORK and until is not None and until <= timezone.now()


class Decision(models.Model):
    """What a reviewer did with an item that the queue handed to them."""

    class Action(models.TextChoices):
        ACCEPT = "accept", "Accepted"
        FIX = "fix", "Fixed"
        REJECT = "reject", "Rejected"
        LABEL = "label", "Labelled"
        SKIP = "skip", "Skipped"
        POSTPONE = "postpone", "Postponed"

    class Arm(models.TextChoices):
        """Whether the suggestion was shown; drawn by hash where a share is to be blind."""

        SHOWN = "shown", "Shown"
        WITHHELD = "withheld", "Withheld"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="decisions")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=10, choices=Action.choices)
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")
    purpose = models.CharField(max_length=8, choices=Purpose.choices, default=Purpose.WORK)
    correct = models.BooleanField(
        null=True, help_text="Of an item whose answer was known: whether this was it."
    )
    arm = models.CharField(max_length=8, choices=Arm.choices, blank=True)
    suggestion = models.ForeignKey(
        Label,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="What was suggested when it was drawn whether to show it.",
    )
    within = models.FloatField(
        null=True,
        help_text="Where nobody told the time it took: seconds since the lease was given. It took "
        "no longer.",
    )
    late = models.BooleanField(default=False, help_text="Came after the lease had lapsed.")
    extra = models.BooleanField(
        default=False, help_text="More labels than were wanted: kept, not lost."
    )
    comment = models.TextField(blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["project", "reviewer", "-id"], name="reviews_decision_recent"),
            # What somebody left to others is looked up for each item of the queue's head.
            models.Index(
                fields=["reviewer", "item"],
                condition=models.Q(undone_at__isnull=True),
                name="reviews_decision_left",
            ),
        ]


class Draft(models.Model):
    """An answer that somebody has begun, as the fields of the form; gone once it is given."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="drafts")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts"
    )
    fields = models.JSONField(default=dict)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "user"], name="reviews_draft_once")]
        indexes = [models.Index(fields=["project", "user"], name="reviews_draft_of")]
