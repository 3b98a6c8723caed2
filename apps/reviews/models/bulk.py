"""Items found by a filter, and what was done to many of them at once."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.labels.models import Label
from apps.projects.models import Item, Project


class SavedFilter(models.Model):
    """A named search over a project's items. ``query`` holds the fields of the search form."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_filters")
    name = models.CharField(max_length=100)
    query = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="reviews_filter_once")
        ]

    def __str__(self) -> str:
        return self.name


class BulkJob(models.Model):
    """One thing done to many items, by one worker at a time, that can be undone as a whole."""

    class Action(models.TextChoices):
        ACCEPT = "accept", "Accept what is suggested"
        LABEL = "label", "Give all one label"
        ASSIGN = "assign", "Give to people"
        AUDIENCE = "audience", "Keep for one kind of people"
        PROMOTE = "promote", "Put first"
        RETURN = "return", "Return to the queue"

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "At work"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        UNDOING = "undoing", "Being undone"
        UNDONE = "undone", "Undone"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="bulk_jobs")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(max_length=10, choices=Action.choices)
    query = models.JSONField(default=dict, help_text="The search that found the items.")
    options = models.JSONField(default=dict, help_text="What the action needs to know.")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    message = models.TextField(blank=True)
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    passed_over = models.PositiveIntegerField(
        default=0, help_text="Were not what they had been when the preview was made."
    )
    counts = models.JSONField(
        default=dict, help_text="How many items were passed over for what, or were not undone."
    )
    after = models.BigIntegerField(default=0, help_text="The last item that was worked on.")
    upto = models.BigIntegerField(default=0, help_text="The newest item when it was asked for.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]


class BulkChange(models.Model):
    """What a bulk job did to one item, and what is needed to take it back."""

    job = models.ForeignKey(BulkJob, on_delete=models.CASCADE, related_name="changes")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")
    before = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "item"], name="reviews_bulk_change_once")
        ]
