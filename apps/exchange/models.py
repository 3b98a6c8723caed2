"""Saved exports, webhooks and their deliveries."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.common.phrases import PhraseField
from apps.common.sealing import SealedField
from apps.debates.models import Run
from apps.labels.models import Gold, Label
from apps.projects.models import ImportBatch, Project
from labelhub.core.phrases import Phrase


class SavedExport(models.Model):
    """One export in a file, written or unfinished; its one worker writes this row.

    The file is below the data folder; its name is the row's ``stored_name``, which contains the
    token of the worker's lease, so that two workers never write one file.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("Waiting for the worker")
        RUNNING = "running", _("Being written")
        DONE = "done", _("Ready")
        FAILED = "failed", _("Failed")
        STALE = "stale", _("Deleted: an author's data was")

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_exports")
    format = models.CharField(max_length=20)
    filters = models.JSONField(default=dict, blank=True, help_text="What the export leaves out.")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    message = PhraseField(blank=True, help_text="What went wrong, in words for people.")
    file_name = models.CharField(max_length=200, help_text="What a download is called.")
    stored_name = models.CharField(max_length=100, blank=True, help_text="Below the data folder.")
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes written so far.")
    sha256 = models.CharField(max_length=64, blank=True)
    items_total = models.PositiveBigIntegerField(default=0)
    items_done = models.PositiveBigIntegerField(default=0)
    manifest = models.JSONField(default=dict, blank=True)
    erasures = models.PositiveIntegerField(
        default=0, help_text="How many authors of the project had been erased when it was begun."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.file_name

    @property
    def gold_counts(self) -> list[tuple[str, int]]:
        """Words and number of each basis of the decisions in the file."""
        words = dict(Gold.Basis.choices)
        counts = self.manifest.get("counts", {}).get("gold", {})
        return [(str(words.get(basis, basis)), number) for basis, number in counts.items()]

    @property
    def moving(self) -> bool:
        return self.status in (self.Status.QUEUED, self.Status.RUNNING)


class ProjectImport(models.Model):
    """A project's archive from another server: first it is checked as a whole, then loaded. If it
    cannot be, what was loaded is deleted again."""

    class Status(models.TextChoices):
        QUEUED = "queued", _("Waiting for the worker")
        CHECKING = "checking", _("Being checked")
        LOADING = "loading", _("Being loaded")
        UNDOING = "undoing", _("Being deleted again")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    ENDED = (Status.DONE, Status.FAILED)

    project = models.ForeignKey(
        Project, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Its project."
    )
    file_name = models.CharField(max_length=255)
    stored_path = models.CharField(max_length=500, blank=True, help_text="Empty once it has ended.")
    slug = models.SlugField(
        max_length=60, blank=True, help_text="Of the new project; empty: as in the archive."
    )
    dry_run = models.BooleanField(default=False, help_text="Only check.")
    match_people = models.BooleanField(
        default=True, help_text="People of the same user name are the same people."
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    message = PhraseField(blank=True)
    rows_total = models.PositiveBigIntegerField(default=0)
    rows_done = models.PositiveBigIntegerField(default=0)
    cursor = models.JSONField(
        default=dict, help_text="Reserved keys, matched models, and the row that was reached."
    )
    result = models.JSONField(default=dict, help_text="What was found, matched and left out.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.file_name

    @property
    def moving(self) -> bool:
        return self.status not in self.ENDED

    @property
    def remarks(self) -> list[Phrase]:
        """What is to be known of the new project, in sentences."""
        if not self.result:
            return []
        missing, models = self.result["people_missing"], self.result["models_missing"]
        sites, left_out = self.result["sites"], self.result["rows_left_out"]
        renewed = [site["name"] for site in sites if site["renewed"]]
        found = [
            (True, Phrase("Nobody is a member yet: add people on the project's page.")),
            (
                missing,
                Phrase(
                    "Without an account here: %(people)s. Their labels keep their names. To give "
                    "them their work, create the accounts and import the archive again.",
                    people=missing,
                ),
            ),
            (
                left_out,
                Phrase(
                    "%(count)s row that only they needed was left out.",
                    "%(count)s rows that only they needed were left out.",
                    count=left_out,
                ),
            ),
            (
                models,
                Phrase(
                    "Models that this server does not have: %(models)s. Enter the address and the "
                    "key of their providers before you resume its runs.",
                    models=models,
                ),
            ),
            (
                sites,
                Phrase(
                    "Sites are switched off and have no secret keys: %(sites)s. Create their keys, "
                    "then switch them on.",
                    sites=[site["name"] for site in sites],
                ),
            ),
            (
                renewed,
                Phrase(
                    "Another site here has the public key of: %(sites)s. They got a new one, which "
                    "their pages need.",
                    sites=renewed,
                ),
            ),
        ]
        return [words for holds, words in found if holds]


class Webhook(models.Model):
    """Another server that gets the events of a project, and the progress of its feed.

    ``*_settled`` are ledger ids up to which it was read (see ``webhooks.event_feed``); ``*_seen``
    and ``mark`` are for servers of the version before. ``turn`` counts the rounds: of two processes
    that read at once, one writes.
    """

    class Status(models.TextChoices):
        ACTIVE = "active", _("Active")
        OFF = "off", _("Switched off")
        PAUSED = "paused", _("Paused: deliveries failed for days")
        GONE = "gone", _("Switched off: the receiver said it is gone")

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2000)
    description = models.CharField(max_length=200, blank=True)
    events = models.JSONField(default=list)
    with_text = models.BooleanField(
        default=False, help_text="Send the texts of items too, except what authors wrote."
    )
    origin = models.CharField(max_length=300, blank=True, help_text="Of this server, for links.")
    secret = SealedField(help_text="Sealed.")
    old_secret = SealedField(null=True, help_text="Sealed; signs beside the new one.")
    old_secret_until = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.ACTIVE)
    began_at = models.DateTimeField(default=timezone.now, help_text="Active since; nothing before.")
    stopped_at = models.DateTimeField(null=True, blank=True)
    label_seen = models.BigIntegerField(default=0)
    label_settled = models.BigIntegerField(default=0)
    gold_seen = models.BigIntegerField(default=0)
    gold_settled = models.BigIntegerField(default=0)
    runs_seen = models.DateTimeField(default=timezone.now)
    mark = models.JSONField(null=True, help_text="What is about to be settled.")
    replay = models.JSONField(null=True, help_text="What is being sent again, and how far.")
    turn = models.PositiveBigIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0, help_text="In a row.")
    failing_since = models.DateTimeField(null=True, blank=True)
    next_at = models.DateTimeField(null=True, blank=True, help_text="Nothing is sent before.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.description or self.url

    @property
    def active(self) -> bool:
        return self.status == self.Status.ACTIVE


class Delivery(models.Model):
    """One event on its way to one webhook. The message is made of the ledger when it is sent, so
    that deleting a row of the ledger deletes all of its deliveries."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        SENDING = "sending", _("Being sent")
        DELIVERED = "delivered", _("Delivered")
        FAILED = "failed", _("Given up")

    #: Of deliveries that are still to be sent.
    UNSENT = (Status.WAITING, Status.SENDING)

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    uid = models.UUIDField(help_text="Made of the webhook and the event: the same each time.")
    event = models.CharField(max_length=30)
    label = models.ForeignKey(
        Label, null=True, on_delete=models.CASCADE, related_name="webhook_deliveries"
    )
    gold = models.ForeignKey(
        Gold, null=True, on_delete=models.CASCADE, related_name="webhook_deliveries"
    )
    run = models.ForeignKey(
        Run, null=True, on_delete=models.CASCADE, related_name="webhook_deliveries"
    )
    batch = models.ForeignKey(
        ImportBatch, null=True, on_delete=models.CASCADE, related_name="webhook_deliveries"
    )
    export = models.ForeignKey(
        SavedExport, null=True, on_delete=models.CASCADE, related_name="webhook_deliveries"
    )
    event_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Since it was last asked for.")
    replays = models.PositiveSmallIntegerField(default=0, help_text="How often it was asked again.")
    next_at = models.DateTimeField(default=timezone.now)
    response_status = models.PositiveSmallIntegerField(null=True)
    response = models.TextField(blank=True, help_text="The beginning of what came back.")
    error = PhraseField(blank=True)
    seconds = models.FloatField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "uid"], name="exchange_delivery_once")
        ]
        indexes = [
            models.Index(
                fields=["webhook", "next_at"],
                condition=models.Q(status__in=["waiting", "sending"]),
                name="exchange_delivery_due",
            ),
            models.Index(fields=["finished_at"], name="exchange_delivery_finished"),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.uid}"
