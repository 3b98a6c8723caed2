"""Runs, debates and turns: the calls to models, their answers and the progress of runs."""

import uuid
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.common.phrases import PhraseField
from apps.labels.blindness import hidden_from
from apps.labels.models import Label
from apps.llm.models import ModelSpec, PromptVersion
from apps.projects.models import Guideline, Item, LabelSchema, Project
from labelhub.core.llm.parsing.structured import json_as_text

if TYPE_CHECKING:
    from apps.accounts.models import User


class RunQuerySet(models.QuerySet["Run"]):
    """Runs."""

    def visible_to(self, user: "User | AnonymousUser") -> "RunQuerySet":
        """Runs of projects that ``user`` may see."""
        return self.filter(project__in=Project.objects.visible_to(user))

    def going(self) -> "RunQuerySet":
        """Runs that some worker should be driving."""
        return self.filter(status__in=["queued", "running"])


class DebateQuerySet(models.QuerySet["Debate"]):
    """Debates."""

    def open_to(self, user: "User | AnonymousUser") -> "DebateQuerySet":
        """Without debates on items that ``user`` has yet to audit blind."""
        return self.exclude(hidden_from(user.pk or 0, item="item"))

    def visible_to(self, user: "User | AnonymousUser") -> "DebateQuerySet":
        """Debates of projects that ``user`` may see."""
        return self.filter(run__project__in=Project.objects.visible_to(user))

    def claimable(self) -> "DebateQuerySet":
        """Waiting debates that no live worker holds."""
        lapsed = models.Q(lease_until__isnull=True) | models.Q(lease_until__lt=timezone.now())
        return self.filter(lapsed, status="waiting")


class Experiment(models.Model):
    """A comparison of several ways to label the same verified items, with a run for each."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="experiments")
    title = models.CharField(max_length=100)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.title


class RoutingRule(models.Model):
    """When a debate's outcome goes to people; see ``labelhub.core.debate.routing``."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="routing_rule")
    definition = models.JSONField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField(default=timezone.now)


class PromptVariant(models.Model):
    """A project's own version of a prompt, besides the version of the installation."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="prompt_variants")
    name = models.CharField(max_length=200, help_text="The prompt it stands in for: protocol/role.")
    title = models.CharField(max_length=100)
    version = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    retired = models.BooleanField(default=False, help_text="No longer offered for new runs.")

    class Meta:
        ordering = ["name", "-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "name", "version"], name="debates_variant_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.title}"


class Run(models.Model):
    """One protocol + models + prompts + schema version over a set of items."""

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Paused")
        CANCELLED = "cancelled", _("Cancelled")
        DONE = "done", _("Done")

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    protocol = models.CharField(max_length=30)
    protocol_settings = models.JSONField(
        default=dict, blank=True, help_text="The protocol's settings, complete."
    )
    params = models.JSONField(
        default=dict, blank=True, help_text="What is asked of each role's model."
    )
    experiment = models.ForeignKey(
        Experiment, null=True, blank=True, on_delete=models.CASCADE, related_name="runs"
    )
    trial = models.BooleanField(
        default=False, help_text="Only tried out: what it finds stays out of the ledger."
    )
    reuse_answers = models.BooleanField(
        default=True, help_text="Take answers from earlier runs where nothing differs."
    )
    replicates = models.PositiveSmallIntegerField(default=1)
    schema = models.ForeignKey(LabelSchema, on_delete=models.RESTRICT, related_name="+")
    guideline = models.ForeignKey(Guideline, null=True, on_delete=models.RESTRICT, related_name="+")
    spec_hash = models.CharField(
        max_length=64, help_text="Protocol, roles, prompts, schema, parameters."
    )
    plan_hash = models.CharField(
        max_length=64, blank=True, help_text="All that was asked for but the budget."
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    pause_code = models.CharField(max_length=40, blank=True)
    message = PhraseField(blank=True, help_text="What happened, in words for people.")
    resume_at = models.DateTimeField(null=True, blank=True)
    faults = models.PositiveSmallIntegerField(
        default=0, help_text="How often in a row a fault of the server stopped it."
    )
    budget_nanousd = models.BigIntegerField(null=True, blank=True, help_text="None: no limit.")
    # Sums over the turns, updated in the transaction that writes them, recounted at the end.
    turns_count = models.PositiveBigIntegerField(default=0)
    unpriced_turns = models.PositiveBigIntegerField(default=0, help_text="Their cost is unknown.")
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cost_nanousd = models.BigIntegerField(default=0)
    other_cost_nanousd = models.BigIntegerField(
        default=0, help_text="Of that, what was paid for embeddings."
    )
    unread_nanousd = models.BigIntegerField(
        default=0,
        help_text="What providers may charge for calls that got no answer; no part of the cost.",
    )
    pulse = models.JSONField(
        default=dict, blank=True, help_text="What the worker that drives it last reported."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    resumed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    texts_deleted_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="By retention: what models were sent and wrote.",
    )

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.protocol} run {self.pk}"

    @property
    def going(self) -> bool:
        """Whether some worker should be driving it; as ``Run.objects.going()``."""
        return self.status in (self.Status.QUEUED, self.Status.RUNNING)


class RunRole(models.Model):
    """The model and the prompt of a role of a run."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="roles")
    role = models.CharField(max_length=30)
    model = models.ForeignKey(ModelSpec, on_delete=models.RESTRICT, related_name="+")
    prompt = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["position", "pk"]
        constraints = [models.UniqueConstraint(fields=["run", "role"], name="debates_role_once")]


class Debate(models.Model):
    """One item's passage through a run's protocol."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DONE = "done", _("Labelled")
        UNPARSED = "unparsed", _("No usable label")
        FAILED = "failed", _("Failed")

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="debates")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="debates")
    replicate = models.PositiveSmallIntegerField(default=1)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.WAITING)
    lease_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    label = models.ForeignKey(Label, null=True, on_delete=models.SET_NULL, related_name="+")
    value = models.JSONField(null=True, help_text="What it concluded; also where none is recorded.")
    signals = models.JSONField(default=dict, blank=True)
    flags = models.JSONField(default=list, blank=True, help_text="What asks for a look.")
    reasons = models.JSONField(
        default=list, blank=True, help_text="Why people are asked first, by the project's rule."
    )
    uncertainty = models.FloatField(
        null=True, help_text="0 is sure, 1 knows nothing; None: unknown."
    )
    error = PhraseField(blank=True)
    failed_tries = models.JSONField(
        default=dict,
        blank=True,
        help_text="By step: the failed tries at a call that is not answered yet.",
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = DebateQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "item", "replicate"], name="debates_debate_once"
            ),
        ]
        indexes = [
            models.Index(fields=["run", "status"], name="debates_debate_status"),
            models.Index(fields=["run", "finished_at"], name="debates_debate_finished"),
            models.Index(
                fields=["lease_token"],
                condition=models.Q(lease_token__isnull=False),
                name="debates_debate_lease",
            ),
        ]


class Turn(models.Model):
    """One agent's call in a debate, with its parameters, answer and cost. Written once."""

    debate = models.ForeignKey(Debate, on_delete=models.CASCADE, related_name="turns")
    step = models.CharField(max_length=60)
    attempt = models.PositiveSmallIntegerField(
        default=1, help_text="Later tries of a failed step count up."
    )
    role = models.CharField(max_length=30)
    model = models.ForeignKey(ModelSpec, on_delete=models.RESTRICT, related_name="+")
    model_answered = models.CharField(max_length=200, blank=True)
    prompt = models.ForeignKey(PromptVersion, on_delete=models.PROTECT, related_name="+")
    messages = models.JSONField(help_text="As sent.")
    params_asked = models.JSONField(default=dict, blank=True)
    params_effective = models.JSONField(default=dict, blank=True)
    text = models.TextField(blank=True)
    reasoning = models.TextField(blank=True)
    value = models.JSONField(null=True)
    evidence = models.JSONField(default=dict, blank=True)
    status = models.CharField(max_length=10)
    rung = models.PositiveSmallIntegerField(default=0, help_text="Rung of the parsing ladder.")
    ranking = models.JSONField(default=list, blank=True, help_text="Answers from best to worst.")
    probabilities = models.JSONField(default=dict, blank=True, help_text="Of the offered labels.")
    off_menu = models.CharField(
        max_length=80, blank=True, help_text="What was answered but is not offered."
    )
    note = PhraseField(blank=True)
    finish_reason = models.CharField(max_length=30, blank=True)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    tokens_cached = models.PositiveIntegerField(default=0)
    tokens_reasoning = models.PositiveIntegerField(default=0)
    usage_estimated = models.BooleanField(default=False)
    cost_nanousd = models.BigIntegerField(
        null=True, help_text="None: the model's price is unknown."
    )
    seconds = models.FloatField(default=0)
    attempts = models.JSONField(
        default=list, blank=True, help_text="HTTP status, seconds, note of each try."
    )
    call_key = models.CharField(
        max_length=64, blank=True, help_text="What decides the answer, hashed; empty: chance does."
    )
    reused = models.BooleanField(
        default=False, help_text="The answer to an equal call; it cost nothing."
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["debate", "step", "attempt"], name="debates_turn_once")
        ]
        indexes = [
            models.Index(
                fields=["call_key"],
                condition=models.Q(reused=False) & ~models.Q(call_key=""),
                name="debates_turn_call",
            ),
            models.Index(
                fields=["debate"],
                condition=~models.Q(status="ok"),
                name="debates_turn_trouble",
            ),
            models.Index(
                fields=["debate"], condition=models.Q(reused=True), name="debates_turn_reused"
            ),
        ]

    @property
    def words(self) -> str:
        """The answer for people: JSON is rewritten in the text form of its prompt."""
        return json_as_text(self.text)
