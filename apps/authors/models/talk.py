"""What was written, as far as it is kept."""

from typing import Any

from django.db import models
from django.utils import timezone

from apps.authors.models.authors import Author
from apps.authors.models.sites import Site
from apps.authors.querysets import MessageQuerySet


class Conversation(models.Model):
    """Messages that belong together, as the host numbers them."""

    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="conversations")
    ref = models.CharField(max_length=64, help_text="The host's id, or the widget's own.")
    started_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-started_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["author", "ref"], name="authors_conversation_once")
        ]

    def __str__(self) -> str:
        return self.ref


class Message(models.Model):
    """One message. ``text`` has no personal data in it; ``stages`` says what became of it, why."""

    class Role(models.TextChoices):
        AUTHOR = "author", "Author"
        ASSISTANT = "assistant", "Assistant"

    class Status(models.TextChoices):
        CONTEXT = "context", "Only context"
        RECEIVED = "received", "Waiting for the models"
        ASKED = "asked", "Asked about"
        DROPPED = "dropped", "Not asked about"

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="messages")
    # Its author's: the messages of a site are found without a look at its authors.
    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, related_name="messages", editable=False, db_index=False
    )
    ref = models.CharField(
        max_length=64, help_text="The sender's id: a second arrival is the same."
    )
    role = models.CharField(max_length=10, choices=Role.choices)
    text = models.TextField(blank=True)
    sealed = models.BinaryField(null=True, help_text="As written, encrypted.")
    fingerprint = models.CharField(max_length=32, blank=True, help_text="Equal for equal texts.")
    language = models.CharField(max_length=10, blank=True)
    country = models.CharField(max_length=2, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices)
    dropped_at = models.CharField(max_length=20, blank=True, help_text="The stage that dropped it.")
    reason = models.CharField(max_length=300, blank=True)
    stages = models.JSONField(
        default=list, blank=True, help_text='[{"stage", "passed", "reason", "data"}]'
    )
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="Somebody asks the models about it until then."
    )
    queued_until = models.DateTimeField(
        null=True, blank=True, help_text="A task for it is on its way until then."
    )
    cost_nanousd = models.BigIntegerField(default=0)
    received_at = models.DateTimeField(default=timezone.now, editable=False)
    processed_at = models.DateTimeField(null=True, blank=True)

    objects = MessageQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["author", "ref"], name="authors_message_once")
        ]
        indexes = [
            models.Index(fields=["conversation", "-id"], name="authors_message_recent"),
            models.Index(fields=["site", "received_at"], name="authors_message_of_site"),
            models.Index(
                fields=["received_at"],
                condition=models.Q(status="received"),
                name="authors_message_waiting",
            ),
        ]

    def __str__(self) -> str:
        return self.ref

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store it with its author's site."""
        self.site_id = self.author.site_id
        super().save(*args, **kwargs)
