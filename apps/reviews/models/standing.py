"""Whether somebody may work here just now, and what managers did about people's work."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.projects.models import Project


class Standing(models.Model):
    """Where one reviewer stands in one project; none means that nothing keeps them from working."""

    class Status(models.TextChoices):
        ACTIVE = "active", "At work"
        QUALIFYING = "qualifying", "Qualifying"
        PAUSED = "paused", "Paused"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="standings")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="standings"
    )
    status = models.CharField(max_length=10, choices=Status.choices)
    reason = models.TextField(blank=True)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="reviews_standing_once")
        ]


class Intervention(models.Model):
    """What somebody did to the queue or to other people's work, and why. Append-only."""

    class Action(models.TextChoices):
        PAUSE = "pause", "Paused a reviewer"
        RESUME = "resume", "Let a reviewer go on"
        QUALIFIED = "qualified", "Qualified"
        NOT_QUALIFIED = "not_qualified", "Did not qualify"
        REQUEUE = "requeue", "Put a reviewer's labels back into the queue"
        RETURN = "return", "Returned items to the queue"
        REVOKE = "revoke", "Took a lease away"
        ASSIGN = "assign", "Assigned items"
        UNASSIGN = "unassign", "Lifted assignments"
        PROMOTE = "promote", "Put items first"
        EXPLAIN = "explain", "Explained a decision to the reviewers"
        SEND_BACK = "send_back", "Sent an item back to its reviewers"
        PLAN = "plan", "Changed the review plan"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=14, choices=Action.choices)
    subject = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Whose work it concerns.",
    )
    reason = models.TextField(blank=True)
    items = models.PositiveIntegerField(default=0, help_text="How many items it concerned.")
    data = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["project", "-id"], name="reviews_intervention_recent")]
