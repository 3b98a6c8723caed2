"""What people say to each other about an item."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.projects.models import Item, Project


class Comment(models.Model):
    """A remark on an item, open until somebody resolves it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    text = models.TextField()
    explains = models.BooleanField(
        default=False, help_text="An adjudicator's words to those who labelled the item."
    )
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["project", "resolved_at"], name="reviews_comment_open")]


class Mention(models.Model):
    """Somebody whom a comment is meant for; unseen until they have opened it."""

    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, related_name="mentions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="mentions"
    )
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comment", "user"], name="reviews_mention_once")
        ]
        indexes = [models.Index(fields=["user", "seen_at"], name="reviews_mention_unseen")]
