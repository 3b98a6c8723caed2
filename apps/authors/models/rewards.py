"""What authors are owed for answers: credited once, held for a while, then paid by the host."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.authors.models.asking import Answer
from apps.authors.models.authors import Author
from apps.authors.models.sites import Site
from apps.authors.querysets import RewardQuerySet


class Payout(models.Model):
    """One file of rewards that the host was given to pay."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="payouts")
    cents = models.PositiveBigIntegerField()
    rewards = models.PositiveIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]


class Reward(models.Model):
    """What one answer earned. One answer earns once, whatever is sent again."""

    answer = models.OneToOneField(Answer, on_delete=models.CASCADE, related_name="reward")
    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="rewards")
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="rewards")
    cents = models.PositiveIntegerField()
    currency = models.CharField(max_length=3)
    credited_at = models.DateTimeField(default=timezone.now, editable=False)
    due_at = models.DateTimeField()
    void_at = models.DateTimeField(null=True, blank=True)
    void_for = models.CharField(max_length=300, blank=True)
    payout = models.ForeignKey(
        Payout, null=True, blank=True, on_delete=models.RESTRICT, related_name="paid"
    )

    objects = RewardQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["site", "due_at"], name="authors_reward_due")]
