"""The queue's leases and what reviewers decided."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.labels.models import Label
from apps.projects.models import Item, Project
from apps.reviews.querysets import DecisionQuerySet, SlotQuerySet


class Slot(models.Model):
    """One wanted label of an item, held by at most one person at a time.

    Made at the first claim. ``label`` set means done. The unique (item, number) and the conditional
    update in ``services.claim_next_item`` make a lease exclusive on SQLite and PostgreSQL alike.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    lease_token = models.UUIDField(null=True, blank=True, unique=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")

    objects = SlotQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "number"], name="reviews_slot_once")]
        indexes = [models.Index(fields=["project", "lease_until"], name="reviews_slot_live")]


class Decision(models.Model):
    """What a reviewer did with an item that the queue handed to them."""

    class Action(models.TextChoices):
        ACCEPT = "accept", "Accepted"
        FIX = "fix", "Fixed"
        REJECT = "reject", "Rejected"
        LABEL = "label", "Labelled"
        SKIP = "skip", "Skipped"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="decisions")
    reviewer = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=10, choices=Action.choices)
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")
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
            models.Index(fields=["project", "reviewer", "-id"], name="reviews_decision_recent")
        ]
