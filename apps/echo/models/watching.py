"""What a site's page on Echo is made of beside the log; nothing is learnt from it."""

from django.db import models
from django.utils import timezone

from apps.echo.models.learning import Echo, LogEvent


class Scored(models.Model):
    """A prediction beside the answer that came to it, before anything was learnt from that.

    Narrow, so that a page can count them all.
    """

    event = models.OneToOneField(
        LogEvent, primary_key=True, on_delete=models.CASCADE, related_name="scored"
    )
    echo = models.ForeignKey(Echo, on_delete=models.CASCADE, related_name="scored")
    number = models.PositiveBigIntegerField(help_text="Of the answer's event.")
    feature = models.CharField(max_length=60)
    loss = models.FloatField(help_text="0 where it was right, 1 where not, or between.")
    sigma = models.FloatField(help_text="The chance of being wrong that was told with it.")

    stands = models.BooleanField(default=True, help_text="The answer counts.")

    class Meta:
        indexes = [
            models.Index(fields=["echo", "number"], name="echo_scored_recent"),
            models.Index(fields=["echo", "feature", "number"], name="echo_scored_of_feature"),
        ]

    def __str__(self) -> str:
        return f"{self.feature}: {self.loss}"


class Check(models.Model):
    """The last check of what is stored against what the log makes, or the one under way."""

    echo = models.OneToOneField(
        Echo, primary_key=True, on_delete=models.CASCADE, related_name="check_of_log"
    )
    started_at = models.DateTimeField(help_text="And by this one check is told from the next.")
    beat_at = models.DateTimeField(help_text="Somebody was at it then.")
    ended_at = models.DateTimeField(null=True, blank=True)
    number = models.PositiveBigIntegerField(default=0, help_text="Events that are looked at.")
    done = models.PositiveBigIntegerField(default=0, help_text="Up to this one it has come.")
    same = models.BooleanField(null=True, help_text="Equal to the last bit.")

    def __str__(self) -> str:
        return f"Check of {self.echo_id} at {timezone.localtime(self.started_at):%Y-%m-%d %H:%M}"
