"""What is counted against limits, under keyed hashes: a row tells nothing of whom it counts."""

from django.db import models
from django.utils import timezone

from apps.authors.models.sites import Site


class DailyUse(models.Model):
    """How often models worked for one person or one network on one day (UTC), whatever was deleted
    since. The hash is another one each day, and the row is deleted the day after."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    who = models.CharField(max_length=32, help_text="Keyed hash of day, kind of work, and whom.")
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["day"], name="authors_daily_use_day")]
        constraints = [
            models.UniqueConstraint(fields=["site", "day", "who"], name="authors_daily_use_once")
        ]


class CarriedLimits(models.Model):
    """What an erased author had used of their caps, and whether they counted, for whoever comes
    back as the same person. Nothing of what they wrote, answered or were called."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="+")
    who = models.CharField(max_length=32, help_text="Keyed hash of whom, another one each quarter.")
    surveys = models.PositiveIntegerField(default=0, help_text="On the day of the deletion (UTC).")
    day_cents = models.PositiveIntegerField(default=0, help_text="In the 24 hours before it.")
    total_cents = models.PositiveIntegerField(default=0)
    trusted = models.BooleanField(default=True)
    ruling = models.BooleanField(null=True, blank=True)
    erased_at = models.DateTimeField(default=timezone.now)
    until = models.DateTimeField(help_text="Deleted then.")

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["site", "who"], name="authors_carried_who"),
            models.Index(fields=["until"], name="authors_carried_until"),
        ]
