"""Workers and jobs of the platform."""

from django.db import models


class WorkerSign(models.Model):
    """When a worker was last seen: one row for all workers."""

    seen_at = models.DateTimeField()


class Job(models.Model):
    """Unfinished long work, see :mod:`apps.common.jobs`.

    ``subject`` is the id of the row that asks for the work; ``kind`` implies its table.
    """

    kind = models.CharField(max_length=40)
    subject = models.PositiveBigIntegerField()
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="How often it was taken up since it last got further."
    )
    lease_token = models.UUIDField(null=True, blank=True, help_text="Of the worker at it.")
    lease_until = models.DateTimeField(null=True, blank=True)
    sent_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then no other task is sent for it."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "subject"], name="common_job_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"
