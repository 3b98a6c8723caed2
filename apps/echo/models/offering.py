"""What can be offered, what was offered to whom and why, and what became of it."""

import uuid

from django.db import models
from django.utils import timezone

from apps.authors.models import Author, Message
from apps.echo.models.learning import Echo, Selection


class CatalogueItem(models.Model):
    """Something that can be offered."""

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="items")
    ref = models.CharField(max_length=100, help_text="The site's own name for it.")
    definition = models.JSONField(help_text="See labelhub.core.echo.recommending.items.")
    active = models.BooleanField(default=True)
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["echo", "ref"], name="echo_item_once")]

    def __str__(self) -> str:
        return self.ref


class Experiment(models.Model):
    """Arms against each other: fixed before the start, and shown to have been by a fingerprint."""

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="experiments")
    name = models.CharField(max_length=100)
    design = models.JSONField(help_text="See labelhub.core.echo.experiments.assignment.")
    sealed_key = models.BinaryField(help_text="The key by which arms are assigned, encrypted.")
    fingerprint = models.CharField(max_length=64)
    planned_days = models.PositiveSmallIntegerField(default=28)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["echo"],
                condition=models.Q(started_at__isnull=False, ended_at__isnull=True),
                name="echo_experiment_one_runs",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Decision(models.Model):
    """What was decided about one message: an offer, or none, and why.

    Every message that could have had an offer has one, in every arm: who was assigned counts.
    """

    class Status(models.TextChoices):
        PENDING = "pending", "Being decided"
        NOTHING = "nothing", "Nothing offered"
        WAITING = "waiting", "Waits to be sent"
        SENT = "sent", "Sent"
        SHOWN = "shown", "Shown"
        EXPIRED = "expired", "Too late"

    uid = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="decisions")
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="+")
    message = models.OneToOneField(
        Message, null=True, on_delete=models.SET_NULL, related_name="decision"
    )
    message_at = models.DateTimeField()
    selection = models.ForeignKey(
        Selection, null=True, on_delete=models.SET_NULL, related_name="decisions"
    )
    experiment = models.ForeignKey(
        Experiment, null=True, on_delete=models.CASCADE, related_name="decisions"
    )
    arm = models.CharField(max_length=64, blank=True)
    unit = models.CharField(max_length=64, blank=True, help_text="What the arm was assigned to.")
    policy = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    why = models.CharField(max_length=30, blank=True)
    propensity = models.FloatField(default=1.0, help_text="Chance of just this decision.")
    propensities = models.JSONField(default=dict, help_text="Chance of each item to be offered.")
    score = models.FloatField(null=True)
    reasons = models.JSONField(default=list)
    item = models.ForeignKey(
        CatalogueItem, null=True, on_delete=models.SET_NULL, related_name="decisions"
    )
    item_ref = models.CharField(max_length=100, blank=True)
    vertical = models.CharField(max_length=60, blank=True)
    offer = models.JSONField(default=dict, help_text="What is shown, as the widget gets it.")
    cost_nanousd = models.BigIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    sent_at = models.DateTimeField(null=True, blank=True)
    shown_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["echo", "-id"], name="echo_decision_recent"),
            models.Index(fields=["author", "-id"], name="echo_decision_of_author"),
            models.Index(fields=["experiment", "arm"], name="echo_decision_of_arm"),
            models.Index(fields=["status", "created_at"], name="echo_decision_of_status"),
            models.Index(fields=["echo", "shown_at"], name="echo_decision_shown"),
            models.Index(
                fields=["author"],
                condition=models.Q(status__in=["waiting", "sent", "shown"]),
                name="echo_decision_open",
            ),
        ]

    def __str__(self) -> str:
        return str(self.uid)


class OfferEvent(models.Model):
    """What became of an offer, as the author's page told it. Every click counts; the same one,
    told again, is the same."""

    class Kind(models.TextChoices):
        SHOWN = "shown", "Shown"
        CLICKED = "clicked", "Clicked"
        HELPFUL = "helpful", "Helpful"
        NOT_HELPFUL = "not_helpful", "Not helpful"
        DISMISSED = "dismissed", "Sent away"

    decision = models.ForeignKey(Decision, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    ref = models.CharField(
        max_length=64, help_text="The sender's id: a second arrival is the same."
    )
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["decision", "ref"], name="echo_offer_event_once")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref}"
