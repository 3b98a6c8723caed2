"""Models trained on a project's gold, and their scores of each item."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.common.phrases import PhraseField
from apps.labels.models import Gold
from apps.projects.models import Item, LabelSchema, Project


class LearningSwitch(models.Model):
    """Whether a project learns from its gold; no row: it does not."""

    project = models.OneToOneField(
        Project, primary_key=True, on_delete=models.CASCADE, related_name="learning"
    )
    on = models.BooleanField(default=False)
    ranked = models.BooleanField(
        default=False, help_text="The queue's order heeds a model; cleared once it is off."
    )
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.project_id}: {'on' if self.on else 'off'}"


class TrainedModel(models.Model):
    """One version of a project's model: what it was taught, how good it is, how far it got.

    The fitted classifier itself is nowhere stored: the gold up to ``gold_until`` makes the same one
    again, in less time than it takes to apply it.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        LEARNING = "learning", _("Learning")
        APPLYING = "applying", _("Labelling what is not decided")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    UNFINISHED = (Status.QUEUED, Status.LEARNING, Status.APPLYING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trained_models")
    version = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    message = PhraseField(blank=True, help_text="What went wrong, in words for people.")
    schema = models.ForeignKey(LabelSchema, on_delete=models.CASCADE, related_name="+")
    gold_until = models.PositiveBigIntegerField(help_text="The newest decision that it read.")
    decided = models.PositiveIntegerField(
        help_text="Decided items at its start: what growth is counted from."
    )
    examples = models.PositiveIntegerField(default=0, help_text="Gold that it was taught.")
    left_out = models.PositiveIntegerField(
        default=0, help_text="Gold that the schema does not offer any more, or beyond the limit."
    )
    offline = models.BooleanField(
        default=False,
        help_text="What stands for the LLM's labels was said by the text matcher (demo).",
    )
    quality = models.JSONField(null=True, help_text="See labelhub.core.learning.quality.")
    curve = models.JSONField(null=True, help_text="See labelhub.core.learning.simulation.")
    step = models.CharField(max_length=80, blank=True, help_text="What it is at, in words.")
    share = models.FloatField(default=0, help_text="How much of the learning is done, 0 to 1.")
    applied_to = models.PositiveBigIntegerField(
        default=0, help_text="Items up to this one have been looked at."
    )
    applied = models.PositiveIntegerField(default=0, help_text="Items it has an opinion of.")
    written = models.PositiveIntegerField(default=0, help_text="Labels that were news.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    phase_at = models.DateTimeField(null=True, blank=True, help_text="When this status began.")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "version"], name="learning_model_version_once"
            ),
            models.UniqueConstraint(
                fields=["project"],
                condition=models.Q(status__in=["queued", "learning", "applying"]),
                name="learning_one_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"

    @property
    def unfinished(self) -> bool:
        return self.status in self.UNFINISHED


class Score(models.Model):
    """What the model says of one item by now; of a decided one, what it said without having seen
    the decision."""

    item = models.OneToOneField(
        Item, primary_key=True, on_delete=models.CASCADE, related_name="score"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    model = models.ForeignKey(TrainedModel, on_delete=models.CASCADE, related_name="scores")
    value = models.JSONField()
    probability = models.FloatField(help_text="How likely it takes that value to be.")
    margin = models.FloatField(help_text="How far ahead of the next likely one.")
    gold = models.ForeignKey(
        Gold, null=True, on_delete=models.CASCADE, related_name="+", help_text="What was judged."
    )
    gold_probability = models.FloatField(null=True, help_text="How likely it takes gold to be.")
    suspicion = models.FloatField(
        null=True, help_text="Gold is probably wrong; the higher, the more so."
    )

    class Meta:
        indexes = [
            models.Index(
                fields=["project", "-suspicion"],
                condition=models.Q(suspicion__isnull=False),
                name="learning_score_suspect",
            )
        ]

    def __str__(self) -> str:
        return f"{self.item_id}: {self.probability:.2f}"
