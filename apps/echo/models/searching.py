"""Searches for the instruction with which a feature is predicted best, and what they found."""

from django.db import models
from django.utils import timezone

from apps.echo.models.learning import Echo


class PromptSearch(models.Model):
    """One search for one feature's instruction. What it found is in use while ``active``."""

    class Status(models.TextChoices):
        RUNNING = "running", "Under way"
        BETTER = "better", "Found a better one"
        UNCHANGED = "unchanged", "Nothing better"
        STOPPED = "stopped", "Switched off"

    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="searches")
    feature = models.CharField(max_length=60)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RUNNING)
    present = models.CharField(max_length=400, blank=True, help_text="In use when it began.")
    instruction = models.CharField(max_length=400, blank=True, help_text='What it found; "": none.')
    active = models.BooleanField(default=False, help_text="Its instruction is in use.")
    why = models.CharField(max_length=30, blank=True)
    reason = models.CharField(max_length=300, blank=True)
    found = models.JSONField(default=dict, help_text="See labelhub.core.echo.prompt_search.Found.")
    answers = models.PositiveIntegerField(help_text="Answers about the feature when it began.")
    until = models.PositiveBigIntegerField(help_text="Key of the newest of them.")
    calls = models.PositiveIntegerField(default=0, help_text="Calls that were answered or failed.")
    cost_nanousd = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["echo"],
                condition=models.Q(status="running"),
                name="echo_search_one_at_a_time",
            ),
            models.UniqueConstraint(
                fields=["echo", "feature"],
                condition=models.Q(active=True),
                name="echo_search_one_in_use",
            ),
        ]
        indexes = [models.Index(fields=["echo", "feature", "-id"], name="echo_search_of_feature")]

    def __str__(self) -> str:
        return self.instruction or self.feature


class SearchReply(models.Model):
    """What a model said in a search that is under way: it is asked for nothing twice. Gone with
    the search's end."""

    search = models.ForeignKey(PromptSearch, on_delete=models.CASCADE, related_name="replies")
    key = models.CharField(max_length=64, help_text="Of what was asked, and of whom.")
    text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    refused = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["search", "key"], name="echo_search_reply_once")
        ]

    def __str__(self) -> str:
        return self.key
