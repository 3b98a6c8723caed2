"""Workers and jobs of the platform, and requests that are done once."""

from django.conf import settings
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


class IdempotentRequest(models.Model):
    """A request with an ``Idempotency-Key``, see :mod:`apps.common.api.idempotency`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    token = models.UUIDField(unique=True, help_text="Of the process that does it.")
    fingerprint = models.CharField(max_length=64, help_text="Hash of method, address and body.")
    started_at = models.DateTimeField(db_index=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="Empty until it is done.")
    content_type = models.CharField(max_length=100, blank=True)
    body = models.BinaryField(default=b"", help_text="The answer, encrypted.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="common_idempotent_request_once")
        ]

    def __str__(self) -> str:
        return self.key
