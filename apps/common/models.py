"""Workers and jobs of the platform, and requests that are done once."""

from django.conf import settings
from django.db import models

from apps.common.phrases import PhraseField
from apps.common.sealing import SealedField


class WorkerSign(models.Model):
    """When a worker process was last seen that serves the queue. The row without a process says
    since when one is expected."""

    #: Empty in the row of versions that had one for all queues.
    queue = models.CharField(max_length=20, db_default="")
    process = models.CharField(max_length=100, db_default="", help_text="Machine and process id.")
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["queue", "process"], name="common_workersign_once")
        ]

    def __str__(self) -> str:
        return f"{self.process} {self.queue}".strip()


class Hold(models.Model):
    """Its one row is there while this server is held, see :mod:`apps.common.holds`."""

    since = models.DateTimeField()


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
    message = PhraseField(
        blank=True, default="", db_default="", help_text="Why the last attempt did not end it."
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
    # For servers of the version before.
    token = models.UUIDField(unique=True, help_text="Of the process that does it.")
    fingerprint = models.CharField(max_length=64, help_text="Hash of method, address and body.")
    started_at = models.DateTimeField(db_index=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="Empty until it is done.")
    content_type = models.CharField(max_length=100, blank=True)
    body = SealedField(default=b"", help_text="The answer, encrypted.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="common_idempotent_request_once")
        ]

    def __str__(self) -> str:
        return self.key


class AuditPerson(models.Model):
    """A person under one name, as the audit log names them; see :mod:`apps.common.audit`.

    The log's hashes cover ``digest`` (SHA-256 of key and name) instead of the name. To erase a
    person is to replace the name and to drop the key: the chain stays valid, and neither the name
    nor the addresses that the key encrypts can be restored.
    """

    user_id = models.PositiveBigIntegerField(db_index=True)
    name = models.CharField(max_length=200)
    key = models.CharField(max_length=44, blank=True, help_text="Empty once the person is erased.")
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user_id", "name"],
                condition=~models.Q(key=""),
                name="common_auditperson_once",
            )
        ]

    def __str__(self) -> str:
        return self.name


class AuditEntry(models.Model):
    """Something that somebody did. Append-only: triggers refuse changes.

    ``number`` and ``hash`` are set once, when a worker adds the entry to the chain.
    """

    at = models.DateTimeField()
    actor = models.ForeignKey(AuditPerson, null=True, on_delete=models.PROTECT, related_name="+")
    via = models.CharField(max_length=100, blank=True, help_text="Key, command or job.")
    address = models.TextField(blank=True, help_text="Encrypted with the key of the person.")
    request_id = models.CharField(max_length=100, null=True)  # noqa: DJ001 - absent, not empty
    action = models.CharField(max_length=40)
    project_id = models.PositiveBigIntegerField(null=True)
    project = models.CharField(max_length=100, blank=True, help_text="Its short name.")
    subject_type = models.CharField(max_length=40, blank=True)
    subject_id = models.CharField(max_length=64, blank=True)
    subject_name = models.CharField(max_length=200, blank=True)
    subject_person = models.ForeignKey(
        AuditPerson, null=True, on_delete=models.PROTECT, related_name="+"
    )
    changes = models.JSONField(default=dict, help_text="Field → [old value, new value].")
    number = models.PositiveBigIntegerField(null=True, unique=True)
    hash = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["project_id", "-id"], name="common_audit_project"),
            models.Index(fields=["action", "-id"], name="common_audit_action"),
            models.Index(fields=["subject_type", "subject_id", "-id"], name="common_audit_subject"),
            models.Index(fields=["at"], name="common_audit_at"),
            models.Index(
                fields=["id"], condition=models.Q(number=None), name="common_audit_unsealed"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.subject_type} {self.subject_id}".strip()

    @property
    def who(self) -> str:
        """The person, or what acted without one."""
        return str(self.actor) if self.actor else self.via

    @property
    def subject(self) -> str:
        """The person or the thing."""
        return str(self.subject_person) if self.subject_person else self.subject_name


class AuditCut(models.Model):
    """Where retention has cut off the log: the last entry that was deleted. Append-only."""

    number = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=64)
    at = models.DateTimeField()
