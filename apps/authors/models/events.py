"""What else happened, as far as trust and the dashboard need it."""

from django.db import models
from django.utils import timezone

from apps.authors.models.asking import Question
from apps.authors.models.authors import Author
from apps.authors.models.sites import Site


class Event(models.Model):
    """Something that no other table tells: an early click, an opt-out, a refused token."""

    class Kind(models.TextChoices):
        EARLY = "early", "Clicked before it could be read"
        REFUSED_EARLY = "refused_early", "Answer refused: too early"
        UNDONE = "undone", "Took an answer back"
        OPTED_OUT = "opted_out", "Does not want to be asked again"
        FLOOD = "flood", "Sent too much at once"
        IDENT = "ident", "Signature refused"
        ERASED = "erased", "Data deleted on request"

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="events")
    author = models.ForeignKey(Author, null=True, on_delete=models.CASCADE, related_name="events")
    question = models.ForeignKey(
        Question, null=True, on_delete=models.CASCADE, related_name="events"
    )
    kind = models.CharField(max_length=20, choices=Kind.choices)
    data = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["site", "-at"], name="authors_event_of_site"),
            models.Index(fields=["author", "-at"], name="authors_event_of_author"),
        ]
