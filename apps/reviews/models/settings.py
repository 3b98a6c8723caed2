"""What a project wants of its reviewers' screen, and what a person wants of their keyboard."""

from django.conf import settings
from django.db import models

from apps.projects.models import Project
from apps.reviews.models.bulk import SavedFilter


class ReviewSettings(models.Model):
    """One project's ways of reviewing; a project without a row has the defaults.

    What is handed out to whom is the project's own (``Project.overlap``, ``queue_order``,
    ``blind_share`` …): the ledger's states and its blindness depend on it. This is the screen.
    """

    class Rationale(models.TextChoices):
        NO = "no", "Not asked"
        OPTIONAL = "optional", "May be given"
        REQUIRED = "required", "Must be given"

    project = models.OneToOneField(
        Project, primary_key=True, on_delete=models.CASCADE, related_name="review_settings"
    )
    show_opinions = models.BooleanField(default=False)
    allow_abstain = models.BooleanField(default=True)
    ask_confidence = models.BooleanField(default=False)
    ask_rationale = models.CharField(max_length=8, choices=Rationale.choices, default=Rationale.NO)
    ask_evidence = models.BooleanField(default=False)
    shuffle_options = models.BooleanField(default=True)
    first_filter = models.ForeignKey(
        SavedFilter, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    first_upto = models.BigIntegerField(
        default=0, help_text="The last item that the filter was applied to."
    )
    first_at = models.DateTimeField(null=True, help_text="When that was.")

    class Meta:
        verbose_name_plural = "review settings"


class KeyMap(models.Model):
    """The keys of the working screen that one person has changed: action → keys."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="key_map"
    )
    keys = models.JSONField(default=dict)
