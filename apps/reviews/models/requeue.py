"""One person's labels on their way back into the queue."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.projects.models import Project


class Requeue(models.Model):
    """Labels of one person that are taken back, by one worker at a time, resumable at any point.

    Who asked and why is in the log as well (``Intervention``), and in each label's provenance.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "At work"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="requeues")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="Whose labels they are.",
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    reason = models.TextField()
    since = models.DateTimeField(null=True, blank=True)
    only_wrong = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    message = models.TextField(blank=True)
    total = models.PositiveIntegerField(help_text="How many labels there were when it was asked.")
    done = models.PositiveIntegerField(default=0)
    after = models.BigIntegerField(default=0, help_text="The last label that was looked at.")
    upto = models.BigIntegerField(help_text="The newest label when it was asked for.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "user"],
                condition=models.Q(status__in=("queued", "running")),
                name="reviews_requeue_one_at_a_time",
            )
        ]
