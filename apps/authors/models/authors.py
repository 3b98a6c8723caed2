"""The people who write, and what they agreed to."""

import uuid

from django.db import models
from django.utils import timezone

from apps.authors.models.limits import CarriedLimits
from apps.authors.models.sites import ConsentText, Site
from apps.authors.querysets import AuthorQuerySet
from apps.labels.models import Annotator


class Author(models.Model):
    """Somebody who writes on a site. Who they are elsewhere is the host's affair: anonymous ones
    are known by a token alone, verified ones by the host's own id for them."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="authors")
    uid = models.UUIDField(default=uuid.uuid4, editable=False, unique=True)
    subject = models.CharField(
        max_length=200, blank=True, help_text="The host's id for them; empty = anonymous."
    )
    token_digest = models.CharField(max_length=64, blank=True, db_index=True)
    token_until = models.DateTimeField(null=True, blank=True)
    carried = models.ForeignKey(
        CarriedLimits,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="authors",
        help_text="What is kept of the same person from before their data was deleted.",
    )
    annotator = models.OneToOneField(
        Annotator, null=True, on_delete=models.SET_NULL, related_name="author"
    )
    opted_out_at = models.DateTimeField(null=True, blank=True)
    network = models.CharField(
        max_length=32, blank=True, db_index=True, help_text="Keyed hash of their network's prefix."
    )
    trust = models.JSONField(default=dict, blank=True, help_text="Score and signals, when judged.")
    trusted = models.BooleanField(default=True, help_text="As judged from several signals.")
    proven = models.BooleanField(
        default=False, help_text="There is enough to judge by: rewards may be paid."
    )
    ruling = models.BooleanField(
        null=True, blank=True, help_text="What a manager decided over the signals: trust or not."
    )
    ruling_reason = models.CharField(max_length=300, blank=True)
    judge_due = models.BooleanField(default=False, help_text="Has answered since last judged.")
    seen_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = AuthorQuerySet.as_manager()

    class Meta:
        ordering = ["-seen_at", "-pk"]
        indexes = [
            models.Index(fields=["site", "-seen_at"], name="authors_author_recent"),
            models.Index(
                fields=["id"], condition=models.Q(judge_due=True), name="authors_author_to_judge"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["site", "subject"],
                condition=~models.Q(subject=""),
                name="authors_author_subject_once",
            )
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def pseudonym(self) -> str:
        """What people see of them: tells nothing about who they are."""
        return f"author-{self.uid.hex[:10]}"

    @property
    def verified(self) -> bool:
        """Whether the host has said who they are."""
        return bool(self.subject)

    @property
    def counts(self) -> bool:
        """Whether their answers count as labels: a manager's ruling, else the signals."""
        return self.trusted if self.ruling is None else self.ruling


class Consent(models.Model):
    """What an author agreed to, and when they took it back."""

    author = models.ForeignKey(Author, on_delete=models.CASCADE, related_name="consents")
    text = models.ForeignKey(ConsentText, on_delete=models.CASCADE, related_name="consents")
    by = models.CharField(max_length=10, choices=Site.ConsentBy.choices)
    given_at = models.DateTimeField(default=timezone.now, editable=False)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-given_at", "-pk"]


class Erasure(models.Model):
    """Proof that somebody's data was deleted; tells how much, and not whose."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="erasures")
    receipt = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    removed = models.JSONField(default=dict, help_text="Kind of row → how many.")
    limits_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then counters of caps are kept; null: none are."
    )
    erased_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-erased_at", "-pk"]
